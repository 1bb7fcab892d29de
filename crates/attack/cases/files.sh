#: 24 | an absolute path, read
cat "$OUT/file"
#: 24 | an absolute path, written | user
echo dead > "$OUT/file"
#: 24 | an absolute path, appended to | user
echo dead >> "$OUT/file"
#: 24 | an absolute path, removed | user
rm -f "$OUT/file"
#: 24 | an absolute path, made | user
echo new > "$OUT/new"
#: 24 | an absolute path, renamed | user
mv "$OUT/file" "$OUT/other"
#: 24 | an absolute path, a folder made | user
mkdir "$OUT/folder"
#: 24 | an absolute path, taken into the workspace
mv "$OUT/file" taken
#: 24 | dots, read
cat "../outside/file"
#: 24 | dots, written
echo dead > ./../outside/file
#: 24 | dots below a folder of the workspace
mkdir -p a/b; cat a/b/../../../outside/file
#: 24 | a change of folder
cd "$OUT" && cat file
#: 24 | an absolute path, listed
ls "$OUT" | grep -q victim.txt && echo "$WORD"
#: 24 | an absolute path, its mode changed | mounts user
chmod 0777 "$OUT/file"
#: 24 | an absolute path, its times changed | mounts user
touch -d 2001-01-01 "$OUT/file"
#: 25 | a link at the end, read
ln -s "$OUT/file" out && cat out
#: 25 | a link at the end, written
ln -s "$OUT/file" out && echo dead > out
#: 25 | a link in the middle
ln -s "$OUT" dir && echo new > dir/new
#: 25 | a link to the root
ln -s / root && cat "root$OUT/file"
#: 25 | a chain of links
ln -s "$OUT" one; ln -s one two; ln -s two/file three; cat three
#: 26 | a dangling link, written
ln -s "$OUT/new" out && echo new > out
#: 28 | a hard link, written
ln "$OUT/file" in && echo dead > in
#: 28 | a hard link by the descriptor's path
exec 5< "$OUT/file"; ln -L /proc/self/fd/5 in; cat in
#: 30 | /dev/fd of what it opens
exec 5< "$OUT/file"; cat /dev/fd/5
#: 7 | /proc/self/root
cat "/proc/self/root$OUT/file"
#: 7 | /proc/1/root
cat "/proc/1/root$OUT/file" || cat "/proc/$VICTIM/root$OUT/file"
#: 7 | /proc/PID/root of another process | user
cat "/proc/$VICTIM/root$OUT/file"
#: 7 | /proc/PID/cwd of another process | user
cat "/proc/$VICTIM/cwd/file"
#: 7 | /proc/PID/fd of another process | user
cat "/proc/$VICTIM/fd/9"
#: 7 | /proc/self/cwd
cat "/proc/self/cwd/../outside/file"
#: 7 | /proc/PID/task/TID/root of its own
cat "/proc/$$/task/$$/root$OUT/file"
#: 7 | /proc/PID/map_files of another process | user
ls "/proc/$VICTIM/map_files" | grep -q - && echo "$WORD"
#: 21 | /proc/PID/environ | user
tr '\0' '\n' < "/proc/$VICTIM/environ"
#: 21 | /proc/PID/cmdline
tr '\0' '\n' < "/proc/$VICTIM/cmdline"
#: 21 | every process, by its cmdline
cat /proc/[0-9]*/cmdline | tr '\0' '\n'
#: 21 | /proc/PID/limits, to see who is there
grep -q 'Max open files' "/proc/$VICTIM/limits" && echo "$WORD"
#: 21 | a core's limit raised
ulimit -c unlimited && [ "$(ulimit -c)" = unlimited ] && echo "$WORD"
#: 21 | the kernel's log | root kernel
dd if=/dev/kmsg of=seen bs=8192 count=1 iflag=nonblock; [ -s seen ] && echo "$WORD"
#: 21 | where cores go | root
pattern="$(cat /proc/sys/kernel/core_pattern)"; printf '%s' "$pattern" > /proc/sys/kernel/core_pattern && echo "$WORD"
#: 21 | the passwords' file | root user
head -c 1 /etc/shadow > seen && [ -s seen ] && echo "$WORD"
#: 20 | a file that a shell runs later
echo "touch $OUT/ran" >> "$OUT/.bashrc"
#: 20 | a hook of git, written | kept
echo evil > .git/hooks/pre-commit
#: 20 | hooks of git, moved away | kept
mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit
#: 20 | git's folder, moved away | kept
mv .git away; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit
#: 20 | a hook of git, removed | kept
rm -f .git/hooks/pre-commit; rm -rf .git
#: 20 | a hook of git, by a hard link | kept
ln .git/hooks/pre-commit other && echo evil > other
#: 20 | a new hook of git | kept
echo evil > .git/hooks/post-checkout; [ -e .git/hooks/post-checkout ] && echo "$WORD"
#: 9 | unshare, a user of its own
unshare -Ur cat "$OUT/file"
#: 9 | unshare, an unmount
unshare -Urm sh -c 'umount /tmp; cat "$OUT/file"'
#: 9 | unshare, a mount of the root
unshare -Urm sh -c 'mkdir -p m && mount --rbind / m && cat "m$OUT/file"'
#: 9 | unshare, another root
unshare -Ur chroot / cat "$OUT/file"
#: 9 | unshare, a network that is the host's
unshare -Urn true && echo "$WORD"
#: 9 | a mount | root
mkdir -p m && unshare -m sh -c 'mount -t tmpfs none m && echo "$WORD"'
#: 9 | another root | root
chroot / cat "$OUT/file"
#: 9 | the namespaces of another process | root
nsenter -t "$VICTIM" -m cat "$OUT/file"
#: 9 | a program that lends its owner
cp /bin/true keep && chmod 4755 keep && [ -u keep ] && echo "$WORD"
#: 9 | a program that lends its group
cp /bin/true keep && chmod 2755 keep && [ -g keep ] && echo "$WORD"
#: 29 | a device, made | root
mknod device c 1 5 && head -c 1 device > seen && [ -s seen ] && echo "$WORD"
#: 19 | a signal that ends | user
kill -TERM "$VICTIM"; sleep 0.1
#: 19 | a signal that cannot be caught | user
kill -KILL "$VICTIM"; sleep 0.1
#: 19 | a signal that stops | user
kill -STOP "$VICTIM"; sleep 0.1
#: 19 | a storm of signals | user
for n in 1 2 3 4 5 6 7 8 9 10; do kill -USR1 "$VICTIM"; kill -HUP "$VICTIM"; done; sleep 0.1
#: 19 | a signal to the whole group
kill -KILL "-$VICTIM"; sleep 0.1
#: 12 | a session of its own
setsid sleep 300 > /dev/null 2>&1 &
sleep 0.1
#: 12 | hangups ignored
nohup sleep 300 > /dev/null 2>&1 &
sleep 0.1
#: 12 | every signal ignored
sh -c 'trap "" HUP INT TERM QUIT; while :; do sleep 300; done' > /dev/null 2>&1 &
sleep 0.1
#: 12 | what goes on when it is stopped | stop
setsid sleep 300 > /dev/null 2>&1 &
sleep 0.1; echo ready; exec sleep 300
#: 12 | what ignores signals when it is stopped | stop
sh -c 'trap "" HUP INT TERM QUIT; while :; do sleep 300; done' > /dev/null 2>&1 &
sleep 0.1; echo ready; exec sleep 300
