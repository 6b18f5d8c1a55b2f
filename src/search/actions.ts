import { stem } from './stem.ts';
import { wordsOf } from './words.ts';

/** What tools do, and the words for it. The first three change nothing. */
const ACTIONS = {
  read: 'get read retrieve fetch show view describe display inspect see explain look summarize give print what who which why when how count',
  list: 'list enumerate browse all which who everybody everyone every many ls',
  search: 'search find query lookup look discover locate where seek grep hunt',
  create:
    'create add new make insert write generate draw build compose post open register draft plot remember save put leave file produce render visualize fork push copy duplicate clone sketch store note',
  update:
    'update edit change modify set rename patch replace move mark assign adjust turn resize scale write resolve close correct append amend alter rotate switch rewrite reassign solve fix swap',
  delete:
    'delete remove drop clear erase destroy forget throw discard trash uninstall wipe clean cleanup purge rid unset rm detach',
  send: 'send post publish reply answer respond share push notify submit message react write say ping tell inform let',
  run: 'run execute trigger start launch invoke rerun evaluate perform exec restart apply deploy install rollback begin record relaunch',
  stop: 'stop kill terminate cancel close end release abort halt quit shut disconnect',
  click: 'click press tap push hit hover drag swipe scroll drop',
  type: 'type fill enter input select choose pick press',
  navigate: 'navigate go open visit browse goto back reload',
  capture: 'take capture screenshot snapshot record grab',
  transfer: 'upload download export import attach save',
  check: 'check validate verify lint test diagnose audit debug review analyze examine monitor watch',
  merge: 'merge join combine rebase squash connect link associate relate',
} as const;

type Action = keyof typeof ACTIONS;

const ACTIONS_OF: ReadonlyMap<string, ReadonlySet<Action>> = readActions();
const READING: ReadonlySet<Action> = new Set(['read', 'list', 'search']);
const QUESTION =
  /^(?:so |and |hey |ok )?(?:what|who|whose|which|where|when|why|how (?:many|much|big|long|high|far|is|are|did|does|was)|(?:tell|show|give) me)\b/i;
const HOW_TO = /^(?:how (?:do|can|would|could|should) (?:i|we|you)|how to)\b/i;

/** Whether a query asks a question, such as "who changed this", so that the tool must not change anything. */
export function isQuestion(query: string): boolean {
  return QUESTION.test(query.trim()) && !HOW_TO.test(query.trim());
}

/** The actions a query asks for; empty if no word says. */
export function actionsWanted(query: string): ReadonlySet<Action> {
  if (isQuestion(query)) return READING;
  const wanted = new Set<Action>();
  for (const word of wordsOf(query))
    for (const action of ACTIONS_OF.get(stem(word)) ?? []) wanted.add(action);
  return wanted;
}

/** What a tool does, by the first word that says so: in its name or, failing that, at the beginning of its summary. */
export function actionsOf(name: string, summary: string): ReadonlySet<Action> {
  for (const word of [...wordsOf(name), ...wordsOf(summary.slice(0, 60)).slice(0, 3)]) {
    const actions = ACTIONS_OF.get(stem(word));
    if (actions !== undefined) return actions;
  }
  return NONE;
}

const NONE: ReadonlySet<Action> = new Set();

/** 1 if a tool does what is wanted, -1 if it does something else, 0 if that is unknown. */
export function actionFit(wanted: ReadonlySet<Action>, done: ReadonlySet<Action>): number {
  if (wanted.size === 0 || done.size === 0) return 0;
  for (const action of done) if (wanted.has(action)) return 1;
  const reads = (actions: ReadonlySet<Action>): boolean => [...actions].some((each) => READING.has(each));
  return reads(wanted) && reads(done) ? 0 : -1;
}

function readActions(): Map<string, Set<Action>> {
  const actions = new Map<string, Set<Action>>();
  for (const [action, words] of Object.entries(ACTIONS))
    for (const word of words.split(' ').map(stem)) {
      const known = actions.get(word) ?? new Set();
      actions.set(word, known.add(action as Action));
    }
  return actions;
}
