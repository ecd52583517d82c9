"""The side of `benchwright bench python` that is Python: orders come in as lines of JSON, times go out.

CPU time where one thread works, wall time where several do.
"""

import json
import sys
import threading
import time

import benchwright as bw


def per(work, count):
    begun = time.thread_time_ns()
    for _ in range(count):
        work()
    return (time.thread_time_ns() - begun) / count


def resident():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


class Side:
    def __init__(self, folder, task, calls):
        self.suite = bw.load_suite(folder, grade=True)
        self.task = self.suite[task]
        self.calls = [(tool, arguments) for tool, arguments in calls]
        self.own = self.task.begin()

    def play(self, episode):
        episode.reset()
        for tool, arguments in self.calls:
            episode.call(tool, arguments)
        return episode.grade().reward

    def episodes(self, count):
        return per(lambda: self.play(self.own), count)

    def empty(self, count):
        return per(self.suite.__len__, count)

    def fork(self, count):
        return per(self.own.fork, count)

    def threads(self, count):
        """Seconds of wall time for so many episodes by one thread, and by two that share them."""

        def work(count):
            episode = self.task.begin()
            for _ in range(count):
                self.play(episode)

        begun = time.perf_counter()
        work(count)
        one = time.perf_counter() - begun
        both = [threading.Thread(target=work, args=(count // 2,)) for _ in range(2)]
        begun = time.perf_counter()
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        return one, time.perf_counter() - begun

    def batch(self, count):
        """Steps a second of so many episodes side by side, the bytes of each, and whether every one of them passed."""
        before = resident()
        batch = bw.Batch(self.task, count)
        best = 0.0
        for _ in range(2):
            batch.reset()
            begun = time.perf_counter()
            for tool, arguments in self.calls:
                batch.step([tool] * count, [arguments] * count)
            best = max(best, count * len(self.calls) / (time.perf_counter() - begun))
        held = (resident() - before) / count
        return best, held, all(verdict.passed for verdict in batch.grade())


def main():
    side = None
    for line in sys.stdin:
        order = json.loads(line)
        if "folder" in order:
            side = Side(order["folder"], order["task"], order["calls"])
            answer = side.play(side.own)
        else:
            answer = getattr(side, order["time"])(order["count"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
