"""The app as it runs for people, in a thread of the tests, and a client that can also ask what no browser would."""

import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlencode

from timelike.app.guard import Guard
from timelike.app.server import application


class Answer:
    """Status, headers and content of an answer."""

    def __init__(self, found):
        self.status_code, self.content = found.status, found.read()
        self.headers = {name.lower(): value for name, value in found.getheaders()}

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Client:
    """Asks as the page does, unless told otherwise: `headers` of a request take the place of the page's."""

    def __init__(self, guard):
        self.guard = guard
        here = f"127.0.0.1:{guard.port}"
        self.headers = {"host": here, "origin": f"http://{here}", "cookie": f"{guard.cookie}={guard.token}"}

    def ask(self, method, path, params=None, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.guard.port, timeout=60)
        target = f"{path}?{urlencode(params)}" if params else path
        connection.putrequest(method, target.replace(" ", "%20"), skip_host=True, skip_accept_encoding=True)
        sent = self.headers | (headers or {})
        pieces = [body] if isinstance(body, bytes) else body
        if isinstance(body, bytes):
            sent["content-length"] = str(len(body))
        elif body is not None:
            sent["transfer-encoding"] = "chunked"
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        try:
            for piece in pieces or ():
                connection.send(piece if isinstance(body, bytes) else b"%x\r\n%s\r\n" % (len(piece), piece))
            if body is not None and not isinstance(body, bytes):
                connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer came before all was sent
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def post(self, path, data=None, body=None, **how):
        return self.ask("POST", path, body=json.dumps(data or {}).encode() if body is None else body, **how)


@contextmanager
def running(folder, limit=100_000):
    """A client of an app that is running."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        guard = Guard(listener.getsockname()[1])
        config = uvicorn.Config(application(folder, guard, limit), log_level="error", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Client(guard)
        finally:
            server.should_exit = True
            thread.join(30)
