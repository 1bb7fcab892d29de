// A web server of an attacker on another port of this machine. Under the name localhost a browser sends it the cookies of the console.

import { createServer } from "node:http";

// Starts a server. `answer` gets the request's path and its body, and returns the page, or `{ type, body, headers }`.
export async function hostileServer(answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let sent = "";
    for await (const piece of request) sent += piece;
    requests.push({ method: request.method, path: request.url, cookie: request.headers.cookie ?? "", body: sent });
    const answered = (await answer(request.url, sent)) ?? "";
    const { type = "text/html; charset=utf-8", body = answered, headers = {} } = typeof answered === "string" ? {} : answered;
    response.writeHead(200, { "content-type": type, "cache-control": "no-store", ...headers });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { port, origin: `http://localhost:${port}`, requests };
}
