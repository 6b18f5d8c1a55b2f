import { DAEMON_COOKIE, SERVICE_COOKIE } from './service-cookies.ts';

/**
 * The program of the reaper, for any POSIX shell. Reads commands from its stdin:
 *   cookie NAME=        the cookie of the run, to search for in environments
 *   cgroups DIRECTORY   the directory of cgroups with the cookie in their name
 *   enlist PID START    a session to end, by its first process
 *   release PID START   that session has ended
 *   dismiss             nothing left to do, exit
 * When its stdin ends, we have ended for whatever reason, and the reaper ends the processes we left.
 *
 * Rules: Use no tools except `grep`, `tr`, `sleep` and `rmdir`. (Without a usable `grep` the reaper works, but slowly,
 * and it spares no service.) `grep` only finds candidates; builtins verify each process again right before the signal.
 * Never search without the cookie: an empty pattern matches everything.
 */
export const REAPER_SCRIPT = `# switchboard reaper: ends the servers of a switchboard that is gone
trap '' HUP INT QUIT TERM PIPE TSTP

# Removes our cgroups. A process that has just ended may still be counted in one, and a service may run in it.
tidy() {
  [ -n "$cgroups" ] || return
  case $cookie in SWITCHBOARD_RUN_????????????????=) ;; *) return ;; esac
  for pause in 1 0; do
    busy=''
    for group in "$cgroups/$cookie"*; do
      [ -d "$group" ] || return
      rmdir "$group" || busy=yes
    done
    [ -n "$busy" ] || return
    sleep $pause
  done
}

cookie='' cgroups='' roots=' '
while read -r verb one two; do
  case $verb in
  cookie) cookie=$one ;;
  cgroups) cgroups="$one\${two:+ $two}" ;;
  enlist) roots="$roots$one:$two " ;;
  release)
    case $roots in
    *" $one:$two "*) roots="\${roots%%" $one:$two "*} \${roots#*" $one:$two "}" ;;
    esac ;;
  dismiss) tidy; exit 0 ;;
  esac
done
case $cookie in SWITCHBOARD_RUN_????????????????=) ;; *) exit 1 ;; esac

# Without /proc (macOS), only the process groups of the roots are visible.
if ! [ -r /proc/self/stat ]; then
  for signal in TERM KILL; do
    for root in $roots; do kill -s $signal -- "-\${root%:*}"; done
    [ $signal = KILL ] || sleep 1
  done
  exit 0
fi

# Reads process $1: sets state, parent, session and start; fails if it is gone.
look() {
  text=''
  while IFS= read -r line || [ -n "$line" ]; do text="$text $line"; done <"/proc/$1/stat"
  # A name may hold anything: the fields begin after its last parenthesis.
  case $text in *')'*) ;; *) return 1 ;; esac
  set -- \${text##*\\) }
  state=$1 parent=$2 session=$4 threads=\${18} start=\${20}
  [ -n "$start" ]
}

# A zombie is dead, unless only its first thread has ended.
alive() {
  look "$1" || return 1
  case $state in [ZXx]) [ "$threads" -gt 1 ] ;; esac
}

# Does file $2 of process $1 have the cookie? (The shell drops the NUL bytes between the variables.)
carries() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"$cookie"*) return 0 ;; esac
  done <"/proc/$1/$2"
  return 1
}

# Do the records of Switchyard prove that process $1 is a service, which is meant to outlive what started it?
outlives() {
  tr '\\000' '\\n' <"/proc/$1/environ" | (
    home='' marks=''
    while IFS= read -r line; do
      case $line in
      SWITCHYARD_HOME=/*) home=\${line#*=} ;;
      ${SERVICE_COOKIE}=* | ${DAEMON_COOKIE}=*) marks="$marks \${line#*=}" ;;
      esac
    done
    # Anything else, such as a pipe, might never end.
    [ -f "$home/state.json" ] || exit 1
    for mark in $marks; do
      case $mark in *[!0-9a-f.]*) continue ;; esac
      if [ \${#mark} -eq 41 ] && grep -qF "\\"$mark\\"" "$home/state.json"; then exit 0; fi
    done
    exit 1
  )
}

# Pids whose file $1 in /proc matches the other arguments of grep; or all pids.
propose() {
  file=$1
  shift
  if [ -n "$quick" ]; then
    paths=$(grep "$@" /proc/[0-9]*/"$file")
  else
    paths=$(echo /proc/[0-9]*/"$file")
  fi
  pids=''
  for path in $paths; do
    path=\${path#/proc/}
    pids="$pids \${path%/*}"
  done
}

# Adds process $1, which was just read.
join() {
  case $members in *" $1:$start "*) return ;; esac
  [ "$1" -ne $$ ] || return
  members="$members$1:$start "
  fresh="\${fresh:+$fresh|}$1"
}

# The same for one without the cookie in its environment.
adopt() {
  case $members in *" $1:$start "*) return ;; esac
  outlives "$1" || join "$1"
}

# Finds our processes: known ones, carriers of the cookie, then the sessions of the roots and all their children.
muster() {
  members=' ' fresh=none sessions=none
  # A session is ours without its root too, unless another process has the root's pid by now.
  for one in $roots; do
    if look "\${one%:*}" && [ "$start" != "\${one#*:}" ]; then continue; fi
    sessions="$sessions|\${one%:*}"
  done
  for one in $known; do
    if alive "\${one%:*}" && [ "$start" = "\${one#*:}" ]; then join "\${one%:*}"; fi
  done
  propose environ -laF "$cookie"
  for pid in $pids; do
    if carries "$pid" environ && alive "$pid"; then join "$pid"; fi
  done
  if [ -n "$cgroups" ]; then
    propose cgroup -lF "$cookie"
    for pid in $pids; do
      if carries "$pid" cgroup && alive "$pid"; then adopt "$pid"; fi
    done
  fi
  while [ -n "$fresh" ]; do
    parents=$fresh fresh=''
    propose stat -lE "\\) [A-Za-z] (($parents) |[0-9]+ [0-9]+ ($sessions) )"
    for pid in $pids; do
      alive "$pid" || continue
      case "|$parents| |$sessions|" in
      *"|$parent|"*' '* | *' '*"|$session|"*) adopt "$pid" ;;
      esac
    done
  done
  known=$members
}

# SIGTERM to each once, SIGKILL each time.
strike() {
  for one in $members; do
    if [ $signal = TERM ]; then
      case $asked in *" $one "*) continue ;; esac
      asked="$asked$one "
    fi
    if alive "\${one%:*}" && [ "$start" = "\${one#*:}" ]; then kill -s $signal "\${one%:*}"; fi
  done
}

# Reads the time, in tenths of a second.
clock() {
  now=0
  if read -r seconds fraction </proc/uptime; then
    fraction=\${seconds#*.}
    now=$((\${seconds%.*} * 10 + \${fraction%?}))
  fi
}

# Some greps stop at a NUL byte and would find nothing.
quick=$(printf 'a\\000b\\n' | grep -caF b)
[ "$quick" = 1 ] || quick=''
known=$roots asked=' ' round=0 quiet=0 signal=TERM now=0 began=0
while [ $round -lt 60 ]; do
  # By the clock too: on a busy machine a round takes much longer than its pause.
  if [ $round -ge 6 ] || [ $(($now - $began)) -ge 6 ]; then signal=KILL; fi
  muster
  strike
  clock
  [ $round -gt 0 ] || began=$now
  # One empty look proves nothing: a process in the middle of exec shows no environment.
  if [ "$members" = ' ' ]; then quiet=$((quiet + 1)); else quiet=0; fi
  [ $quiet -lt 2 ] || break
  # Fractions are an extension, though one that every system we know has.
  sleep 0.1 || { sleep 1; round=$((round + 5)); }
  round=$((round + 1))
done
tidy
exit 0
`;
