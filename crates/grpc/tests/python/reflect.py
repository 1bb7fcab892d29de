"""Runs one question over gRPC with nothing but reflection: no generated code, no schema file.

Usage: reflect.py HOST:PORT SOCKET, with the token in PALYRA_TOKEN. Prints what it saw on one line; of the socket, what
becomes of a request whose authority is the socket's path, and of one whose authority is `localhost`.
"""

import os
import sys

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

DEADLINE_SECONDS = 60
PREFIX = "palyra.v1."


class BearerChannel:
    """Adds the token to every call of a channel, those of reflection included."""

    def __init__(self, channel, token):
        interceptor = Bearer(token)
        self.channel = grpc.intercept_channel(channel, interceptor)


class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    def __init__(self, token):
        self.metadata = [("authorization", f"Bearer {token}")]

    def _with_token(self, details):
        class Details(grpc.ClientCallDetails):
            pass

        new = Details()
        new.method = details.method
        new.timeout = DEADLINE_SECONDS
        new.metadata = list(details.metadata or []) + self.metadata
        new.credentials = details.credentials
        new.wait_for_ready = details.wait_for_ready
        new.compression = details.compression
        return new

    def intercept_unary_unary(self, continuation, details, request):
        return continuation(self._with_token(details), request)

    def intercept_stream_stream(self, continuation, details, requests):
        return continuation(self._with_token(details), requests)


def main():
    address = sys.argv[1]
    said = []
    with grpc.insecure_channel(address) as bare:
        try:
            ProtoReflectionDescriptorDatabase(bare).get_services()
            said.append("not refused")
        except grpc.RpcError as error:
            trailers = dict(error.trailing_metadata() or [])
            said.append(f"refused:{trailers.get('palyra-error-code')}")
        channel = BearerChannel(bare, os.environ["PALYRA_TOKEN"]).channel
        database = ProtoReflectionDescriptorDatabase(channel)
        assert PREFIX + "GatewayService" in database.get_services()
        pool = descriptor_pool.DescriptorPool(database)
        method = pool.FindServiceByName(PREFIX + "GatewayService").FindMethodByName("RunStream")
        request_class = message_factory.GetMessageClass(method.input_type)
        response_class = message_factory.GetMessageClass(method.output_type)
        stream = channel.stream_stream(
            f"/{PREFIX}GatewayService/RunStream",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response_class.FromString,
        )
        start = request_class()
        start.start.input = "who is there?"
        text = ""
        for frame in stream(iter([start])):
            kind = frame.WhichOneof("frame")
            if kind == "opened":
                said.append("opened")
            elif kind == "entry" and frame.entry.WhichOneof("event") == "model_text":
                text += frame.entry.model_text.text
            elif kind == "end":
                said += [f"text:{text}", f"end:{frame.end.state}"]
    for name, options in [("path", []), ("localhost", [("grpc.default_authority", "localhost")])]:
        with grpc.insecure_channel(f"unix:{sys.argv[2]}", options=options) as local:
            try:
                served = PREFIX + "AdminService" in ProtoReflectionDescriptorDatabase(local).get_services()
                said.append(f"{name}:{'served' if served else 'incomplete'}")
            except grpc.RpcError:
                said.append(f"{name}:refused")
    print(" ".join(said))


main()
