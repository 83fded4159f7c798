#!/bin/busybox sh
# The guest's first process: mounts what is needed, loads modules, runs the command, sends
# back what it left, and powers off. Talks to the lab through four virtio ports.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb OUT=/out
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm /run /out /root
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
ln -s /proc/self/fd /dev/fd
echo root:x:0:0:root:/root:/bin/sh >/etc/passwd
echo root:x:0: >/etc/group
hostname lab
ip link set lo up

port() {
    for folder in /sys/class/virtio-ports/*; do
        [ "$(cat "$folder/name")" = "$1" ] && echo "/dev/${folder##*/}"
    done
}
control=$(port control)
exec 9<>"$control"
echo up >&9
end() {
    echo "$*" >&9
    exec 9>&-
    sync
    poweroff -f
}

while read -r module; do
    insmod "/lab/modules/$module" || end "failed insmod $module"
done </lab/modules.list

# In a shell of its own: what it changes does not reach the command, and it may exit.
sh -e /lab/setup >/dev/console 2>&1 9>&- || end "failed setup: exit code $?"
# Twice, the second time after the lab's answer to the first.
measure() { sh /lab/measure 2>&1 9>&- | sed 's/^/said /' >&9; }
if [ -e /lab/measure ]; then
    measure
    echo measured >&9
    read -r _ <&9
    measure
fi
echo ready >&9
# The answer: go, and the dilation of this CPU if that was measured.
read -r _ PAGETIDE_DILATION <&9
export PAGETIDE_DILATION

cd /root || end "failed cd /root"
sh /lab/command >"$(port out)" 2>"$(port err)" </dev/null 9>&-
code=$?
if [ -n "$(ls -A /out)" ]; then
    tar -cf "$(port files)" -C /out . || end "failed tar"
fi
end "exit $code"
