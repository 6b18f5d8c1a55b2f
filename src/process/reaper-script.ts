import { DAEMON_COOKIE, SERVICE_COOKIE } from './service-cookies.ts';

/**
 * The program of the reaper, for any POSIX shell. Reads commands from its stdin:
 *   cookie NAME=        the cookie of the run, searched in environments
 *   enlist PID START    a session to end, by its first process
 *   release PID START   that session is gone
 *   dismiss             nothing left to do, exit
 * When its stdin ends, we are gone for whatever reason, and it ends the processes we left.
 *
 * Rules: no tools but `grep` and `sleep` (works without a usable `grep`, but slowly). `grep` only proposes; builtins
 * verify each process again right before the signal. Never search without the cookie: an empty pattern matches all.
 */
export const REAPER_SCRIPT = `# switchboard reaper: ends the servers of a switchboard that is gone
trap '' HUP INT QUIT TERM PIPE TSTP
cookie='' roots=' '
while read -r verb one two; do
  case $verb in
  cookie) cookie=$one ;;
  enlist) roots="$roots$one:$two " ;;
  release)
    case $roots in
    *" $one:$two "*) roots="\${roots%%" $one:$two "*} \${roots#*" $one:$two "}" ;;
    esac ;;
  dismiss) exit 0 ;;
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

# Does process $1 carry the cookie? (The shell drops the NUL bytes between the variables.)
carries() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"$cookie"*) return 0 ;; esac
  done <"/proc/$1/environ"
  return 1
}

# Is process $1 meant to outlive the process that started it?
outlives() {
  if [ -n "$quick" ]; then
    grep -qaF -e '${SERVICE_COOKIE}=' -e '${DAEMON_COOKIE}=' "/proc/$1/environ"
    return
  fi
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *${SERVICE_COOKIE}=* | *${DAEMON_COOKIE}=*) return 0 ;; esac
  done <"/proc/$1/environ"
  return 1
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
  case $roots in *" $session:"*) sessions="\${sessions:+$sessions|}$session" ;; esac
}

# Finds our processes: known ones, carriers of the cookie, then their children and sessions.
muster() {
  members=' ' fresh='' sessions=''
  for one in $known; do
    if alive "\${one%:*}" && [ "$start" = "\${one#*:}" ]; then join "\${one%:*}"; fi
  done
  propose environ -laF "$cookie"
  for pid in $pids; do
    if carries "$pid" && alive "$pid"; then join "$pid"; fi
  done
  while [ -n "$fresh" ]; do
    parents=$fresh fresh=''
    propose stat -lE "\\) [A-Za-z] (($parents) |[0-9]+ [0-9]+ (\${sessions:-none}) )"
    for pid in $pids; do
      alive "$pid" || continue
      # Who carries the cookie is among us by now.
      case $members in *" $pid:$start "*) continue ;; esac
      case "|$parents| |$sessions|" in
      *"|$parent|"*' '* | *' '*"|$session|"*) outlives "$pid" || join "$pid" ;;
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

# Some greps stop at a NUL byte and would find nothing.
quick=$(printf 'a\\000b\\n' | grep -caF b)
[ "$quick" = 1 ] || quick=''
known=$roots asked=' ' round=0 quiet=0
while [ $round -lt 60 ]; do
  if [ $round -lt 6 ]; then signal=TERM; else signal=KILL; fi
  muster
  strike
  # One empty look proves nothing: a process in the middle of exec shows no environment.
  if [ "$members" = ' ' ]; then quiet=$((quiet + 1)); else quiet=0; fi
  [ $quiet -lt 2 ] || exit 0
  # Fractions are an extension, though one that every system we know has.
  sleep 0.1 || { sleep 1; round=$((round + 5)); }
  round=$((round + 1))
done
`;
