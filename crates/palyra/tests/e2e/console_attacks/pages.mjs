// Opens pages of the console and reports what each says.

import { click, evaluate, finish, on, open, page, scripts } from "../devtools.mjs";
import { say, signIn } from "./cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_PATHS: paths } = process.env;

await signIn({ click, evaluate, on, open, page, scripts }, link);
for (const path of paths.split(",")) {
  await open(`http://localhost:${port}${path}`);
  say("page", await evaluate("document.querySelector('main').innerText"));
}
finish();
