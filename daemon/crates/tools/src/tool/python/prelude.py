# Runs before the code of a call. The call's line to Abide is stdin: this takes it away, defines fork and wait, which speak on it,
# and runs the code. Python 3.6 must understand it.


def prelude():
    import sys

    folders = sys.path[:]
    # A file json.py in the workspace is not the module json.
    sys.path[:] = [folder for folder in folders if folder]
    import itertools
    import json
    import os
    import threading

    sys.path[:] = folders

    most = 256 * 1024

    class Line:
        def __init__(self):
            # Neither this descriptor nor the line is inherited by programs that the code starts.
            self.descriptor = os.dup(0)
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
            self.turn = threading.Condition()
            self.ids = itertools.count(1)
            self.replies = {}
            self.begun = b""
            self.is_read = False
            self.closed = None
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self.forget)

        # In a process that the code has forked.
        def forget(self):
            os.close(self.descriptor)
            self.closed = "only the first process of a call can use sub-tasks"
            self.turn = threading.Condition()

        def ask(self, verb, text):
            if not isinstance(text, str):
                raise TypeError("%s takes a string, not %s" % (verb, type(text).__name__))
            # Half of a surrogate pair cannot be sent.
            text = text.encode("utf-8", "replace").decode("utf-8")
            with self.turn:
                number = next(self.ids)
                line = json.dumps({"id": number, verb: text}, ensure_ascii=False).encode("utf-8")
                if len(line) > most:
                    raise ValueError("%s takes at most %d KiB" % (verb, most // 1024))
                self.send(line + b"\n")
                while number not in self.replies:
                    if self.closed:
                        raise RuntimeError(self.closed)
                    if self.is_read:
                        self.turn.wait()
                    else:
                        self.receive()
                reply = self.replies.pop(number)
            if "error" in reply:
                raise RuntimeError(reply["error"])
            return reply

        def send(self, rest):
            try:
                while rest and not self.closed:
                    rest = rest[os.write(self.descriptor, rest) :]
            except OSError:
                # Abide has closed it. What it said before is still to be read.
                pass

        # One thread reads for all that wait.
        def receive(self):
            self.is_read = True
            self.turn.release()
            data = b""
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                pass
            finally:
                self.turn.acquire()
                self.is_read = False
                self.turn.notify_all()
            if not data:
                self.closed = self.closed or "the line to Abide is closed"
            *lines, self.begun = (self.begun + data).split(b"\n")
            for line in lines:
                reply = json.loads(line.decode("utf-8"))
                if "id" in reply:
                    self.replies[reply["id"]] = reply
                else:
                    self.closed = "the line to Abide is closed, because " + reply["error"]

    line = Line()

    def fork(prompt):
        """Starts a sub-task of this task; returns its handle."""
        return line.ask("fork", prompt)["handle"]

    def wait(handle):
        """Waits until a sub-task has ended; returns its result."""
        return line.ask("wait", handle)["result"]

    # A traceback begins with the code.
    def hook(kind, error, trace):
        while trace and trace.tb_frame.f_code.co_filename != "<code>":
            trace = trace.tb_next
        sys.__excepthook__(kind, error.with_traceback(trace), trace)

    sys.excepthook = hook
    code = sys.argv.pop()
    main = sys.modules["__main__"].__dict__
    del main["prelude"]
    main.update(fork=fork, wait=wait)
    exec(compile(code, "<code>", "exec", 0, True), main)


prelude()
