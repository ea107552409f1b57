"""Run a submission where it can do no harm, and talk to it in plain data.

What isolation promises (Linux 5.12 and later, on x86-64 and arm64):

- Each session is a process of its own in new user, mount, process, network, IPC, host-name and
  cgroup namespaces, without capabilities, never able to regain any (`no_new_privs`).
- It sees a read-only file system of the interpreter's standard library, the installed packages,
  the system's folders of libraries (`/lib`, `/usr/lib`, `/usr/local/lib` and their 64-bit twins,
  with all that lies there), `/dev/null` and `/dev/urandom`, and an empty `/tmp` of 16 MiB: no
  home, no submissions, no marks, no course material, no `/proc`, no environment of the grader's.
- An engine of one's own is alone: of the installed packages it sees NumPy, and no other, and its
  server has imported no engine that it could find in memory.
- It may make some 80 system calls, which `jail.ALLOWED` and `jail.RULES` name: those that CPython,
  NumPy, PyTorch and JAX need for work on numbers, with threads, and on files of its own. Every
  other call is refused. So it has no network and no socket, can start no process and no program,
  gets no descriptor of another process, signals none but itself, and of the grader's channel it
  can ask nothing but to be read and written. `asyncio.run`, `multiprocessing`, `subprocess` and
  `signal.setitimer` don't work.
- Two submissions that run side by side share no file that one of them can write. We know no way to
  mark a file, a page or a number of the kernel's by these calls so that the other could read it:
  there is no lock, lease, notice or hint, no pipe, queued signal, timer or huge page, and no
  waiting at a page of a shared file (`futex`).
- It is ended when a request takes more than its processor time or its wall-clock time, when its
  lifetime's are used up, and when the grader ends. Address space, file size, open files and
  threads are limited. What it prints goes nowhere.
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
  read faster by the next. The machine's memory and the number of threads that the user who grades
  may have (`ulimit -u`) are shared, too. Each submission may have 2 GiB and 64 threads. If all that
  run at once can't have that together, one notices when another takes it.
- The paths of the installation, such as that of the teacher's environment, stand in its files.
- Without isolation (`isolate=False`) only the limits of `setrlimit` and the clocks hold:
  a submission may read, write and send whatever the grader's own user may. On Linux what it has
  started is ended with it.
"""
