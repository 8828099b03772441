#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node on the loopback, of Debian's packages slurmctld, slurmd, slurm-client and
# munge, for the test of `sweep --slurm`:
#   export SLURM_CONF=$(tests/sim/cli/slurm_on_loopback.sh start FOLDER)
#   tests/sim/cli/slurm_on_loopback.sh stop FOLDER
# All its files lie in FOLDER, and its daemons run as who calls.
set -eu
action=$1
mkdir -p "$2"
folder=$(CDPATH='' cd "$2" && pwd -P)
user=$(id -un)
host=$(hostname -s)

stop() {
    for daemon in slurmd slurmctld munged; do
        [ ! -f "$folder/$daemon.pid" ] || kill "$(cat "$folder/$daemon.pid")" 2>/dev/null || true
    done
}

start() {
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    [ -f "$folder/munge.key" ] || dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 2>/dev/null
    chmod 600 "$folder/munge.key"
    munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" >&2
    cat >"$folder/slurm.conf" <<END
ClusterName=lockstep
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    slurmctld -f "$folder/slurm.conf" >&2
    slurmd -f "$folder/slurm.conf" >&2
    # Ready when its node is.
    for _ in $(seq 30); do
        if SLURM_CONF="$folder/slurm.conf" sinfo --noheader --states=idle 2>/dev/null | grep -q .; then
            echo "$folder/slurm.conf"
            return
        fi
        sleep 1
    done
    stop
    echo "slurm_on_loopback.sh: the node does not become ready; see $folder/slurmctld.log" >&2
    exit 1
}

"$action"
