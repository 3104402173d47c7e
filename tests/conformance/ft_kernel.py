# SPDX-License-Identifier: Apache-2.0
"""What the kernel's lines about binder and about states of displays must become (ftrace.md, section 3).

Facts as ft_facts has them, with the times of the lines.
"""
import ft_lines

ONE_WAY, ASYNC_LENGTH = 1, 30000


class Binder:
    """Callers wait from the question until they receive the answer, threads that answer work from when
    they receive the question until they send the answer."""

    def __init__(self, model):
        self.slices, self.flows = [], []
        self.asked, self.waiting, self.working = {}, {}, {}
        self.end = model.end()
        for line in model.events:
            if line.event == "binder_transaction":
                self._sent(line, ft_lines.fields(line.details))
            elif line.event == "binder_transaction_received":
                self._received(line, ft_lines.fields(line.details)["transaction"])
        for stacks in (self.waiting, self.working):
            for rows in stacks.values():
                for row in rows:
                    self.slices.append((*row, self.end, True))

    def _sent(self, line, args):
        one_way = int(args["flags"], 16) & ONE_WAY
        begun = None
        if args["reply"] == "1":
            rows = self.working.get(line.tid)
            begun = rows.pop() if rows else None
            if begun:
                self.slices.append((*begun, line.time, False))
        elif one_way:
            begun = (line.tid, "binder transaction async", line.time)
            self.slices.append((*begun, line.time + ASYNC_LENGTH, False))
        else:
            begun = (line.tid, "binder transaction", line.time)
            self.waiting.setdefault(line.tid, []).append(begun)
        self.asked[args["transaction"]] = (args["reply"] == "1", one_way, begun, line.time)

    def _received(self, line, number):
        if number not in self.asked:
            return
        reply, one_way, begun, sent = self.asked[number]
        title = "binder reply"
        if reply:
            rows = self.waiting.get(line.tid)
            if not rows:
                return
            row = rows.pop()
            self.slices.append((*row, line.time, False))
            title = row[1]
        elif one_way:
            title = "binder Async recv"
            self.slices.append((line.tid, title, line.time, line.time + ASYNC_LENGTH, False))
        else:
            self.working.setdefault(line.tid, []).append((line.tid, title, line.time))
        if begun:
            self.flows.append((begun[1], sent, title, line.time))


def last_states(model):
    """States of page flips, values of timelines and jobs of the GPU that nothing followed: (line of the kernel, title, time)."""
    last = {}
    for line in model.events:
        args = ft_lines.fields(line.details)
        if line.event == "exynos_page_flip_state":
            last[f"exynos_flip_state (pipe:{args['pipe']}, fb:{args['fb']})"] = (args["state"], line.time)
        elif line.event == "sync_timeline":
            last[args["name"]] = (args["value"], line.time)
        elif line.event == "msm_gpu_submit_flush":
            last["GPU " + args["id"]] = (args["id"], line.time)
        elif line.event == "msm_gpu_submit_retired":
            last.pop("GPU " + args["id"], None)
    return [("GPU" if key.startswith("GPU ") else key, state, time) for key, (state, time) in last.items()
            if state != "flipped"]
