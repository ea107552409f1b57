"""Run a submission where it can do no harm, and talk to it in plain data.

What isolation promises (Linux 5.12 and later, on x86-64 and arm64):

- Each session is a process of its own in new user, mount, process, network, IPC, host-name and
  cgroup namespaces, without capabilities, never able to regain any (`no_new_privs`).
- It sees a read-only file system of the interpreter's standard library, the installed packages,
  shared libraries, `/dev/null` and `/dev/urandom`, and an empty `/tmp` of 16 MiB: no home, no
  submissions, no marks, no course material, no `/proc`, no environment of the grader's.
- An engine of one's own is alone: of the installed packages it sees NumPy, and no other, and its
  server has imported no engine that it could find in memory.
- It has no network, and can open no socket or pair of sockets; of the grader's channel it can ask
  nothing but to be read and written. It can start no process and no program (threads it can), get
  no descriptor of another process, and signal none but itself. System calls that are newer than
  those that were looked at do not exist for it.
- Two submissions that run side by side share no file that one of them can write, and the calls
  are refused by which one could mark a library's file and the other see the mark: locks, leases,
  notices, hints, what the kernel holds of the file in memory, and waiting at one of its pages
  (`futex`). Refused, too, are pipes, whose numbers the kernel counts for all, and `sysinfo`.
- It is ended when a request takes more than its processor time or its wall-clock time, when its
  lifetime's are used up, and when the grader ends. Address space, file size, open files, threads,
  timers and waiting signals are limited. What it prints goes nowhere.
- What it answers is decoded as numbers, strings, arrays and containers of these, must carry the
  request's own number, and has a size limit that the right answer's size decides: so looking at it
  costs the grader little. It can claim values, nothing else.

What it does not promise:

- The kernel is shared. A hole in it is a hole in the sandbox; a virtual machine is the next step.
- A submission sees the inputs of the check that it is given, and the code of that check's driver,
  while it answers. It has no call to send them by. But up to 800 characters of what it says for
  each part are shown to its author. Draw new inputs if you grade the same exercise again.
- It may be slow on purpose, up to its limits. Submissions that run at the same time share the
  processor, its caches, the disk, and the kernel's memory of files and names. One can be busy, or
  read a file, and another measure how long its own work takes: a slow and noisy way to send bits,
  which no filter closes. With `--jobs 1` no two submissions run at once; what one has read is still
  read faster by the next.
- The paths of the installation, such as that of the teacher's environment, stand in its files.
- Without isolation (`isolate=False`) only the limits of `setrlimit` and the clocks hold:
  a submission may read, write and send whatever the grader's own user may. On Linux what it has
  started is ended with it.
"""
