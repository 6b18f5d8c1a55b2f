import { SAYINGS } from './sayings.ts';
import { stem } from './stem.ts';
import { wordsOf } from './words.ts';

/**
 * Groups of words with about the same meaning in the names and descriptions of tools, one group per line. A word may be
 * in several groups; an expression of several words counts as a word of its group. Not specific to any server.
 */
const GROUPS = `
get, fetch, read, retrieve, obtain, load, pull, look at, show, view, display, see, give, open, print, cat, inspect, check, tell me, what is, receive, access, download
list, enumerate, all, show, browse, ls, overview, available, which, index, catalog, what are, get all, see all
search, find, query, look up, lookup, look for, seek, locate, discover, grep, match, filter, scan, hunt, research, google, dig up, where is, where are, where did i, where was, where do i, where did
create, make, new, add, insert, build, generate, compose, register, initialize, init, set up, start, write, put, spin up, provision, open, draft, post, publish, produce, prepare
update, edit, change, modify, alter, patch, set, adjust, rewrite, replace, revise, correct, amend, save, overwrite, refresh, upsert, tweak, swap
delete, remove, erase, drop, destroy, clear, purge, discard, trash, wipe, rid, get rid of, throw away, uninstall, delet, rm, clean up, cleanup, unset, detach, tear down
send, post, submit, share, push, deliver, notify, write, message, broadcast, emit, publish, tell, ping
reply, respond, answer, react, thread, response
click, press, tap, push, hit, select, choose, press button, submit button, push button, press link, check box
drag, drop, move, slide, pull
hover, mouse over, point, mouse, cursor
scroll, swipe, slide, flick
type, fill, enter, input, key in, write, fill in, fill out, put in
key, keyboard, keystroke, press, button, shortcut, enter
navigate, go to, visit, browse, open, goto, url, address, link, surf, load, website
back, previous, return, history, last
wait, pause, sleep, delay, until, appear
screenshot, capture, snapshot, picture, photo, image, screen shot, grab, print screen, looks like, look like
image, picture, photo, illustration, drawing, graphic, art, artwork, png, jpg, logo, thumbnail, icon
run, execute, evaluate, launch, invoke, perform, start, trigger, eval, exec, fire, call, rerun
script, javascript, js, code, snippet, program, function, expression
stop, kill, end, terminate, cancel, abort, close, shut, halt, quit, exit, shut down
start, launch, begin, boot, open, resume, power on
install, set up, deploy, add, put on
deploy, release, ship, publish, roll out, rollout, install
restart, reboot, rollout, reload, refresh, redeploy
scale, resize, replica, size, bigger, smaller, grow, shrink, copy, instances, more copies, fewer copies, more instances, copies of
resize, viewport, size, window, dimension, width, height, bigger, smaller
emulate, simulate, pretend, device, throttle, offline, mimic, slow
upload, attach, send, put, import, push, attachment
download, save, export, fetch, get, pull
move, rename, transfer, relocate, mv, reorganize, put into
copy, duplicate, clone, fork, cp
fork, own copy, copy, clone
merge, combine, join, integrate, squash
compare, diff, difference, versus, changes between, delta
approve, accept, confirm, allow, review, sign off
review, feedback, approve, comment, critique, opinion
comment, note, remark, reply, feedback, annotation, discussion, leave a note, say, mention
assign, give, hand, owner, responsible, delegate, assignee
close, resolve, finish, complete, end, done, shut
connect, link, attach, join, relate, associate, association, relation, relationship
relation, relationship, edge, link, connection, connect, related, association, triple
entity, node, object, item, fact, record, thing, concept, person
observation, fact, note, detail, information, remember, learn
remember, memory, recall, memorize, save, store, keep in mind, knowledge, know, note down, forget, learned
forget, delete, remove, unlearn
graph, network, diagram
graph, knowledge, know, memory, what do you know, entity
think, reason, thought, plan, step by step, ponder, brainstorm, reflect, sequential, break down, problem, reasoning, solve
analyze, analysis, examine, inspect, study, investigate, evaluate, insight, diagnose, understand, figure out, explain
check, validate, verify, test, lint, inspect, valid, health, make sure, ensure, audit
test, check, spec, assert, verify, flaky, failing
lint, eslint, style, code quality, static analysis, violation, warning, problem
fix, repair, solve, resolve, correct, autofix, patch, debug, mend
debug, troubleshoot, investigate, diagnose, error, root cause, problem, failure
explain, describe, definition, detail, schema, structure, info, information, metadata, summary, about, look like
summarize, summary, overview, digest, tldr, recap, gist
count, number, how many, total, amount, size, statistic
aggregate, group, sum, statistic, average, pipeline, total
statistic, stats, metric, analytic, usage, report, measure, number, figure
metric, performance, monitor, measure, insight, usage, telemetry, vitals, cpu, memory
explain, plan, slow, execution plan, why slow, query plan
performance, speed, slow, fast, trace, profile, lighthouse, timing, latency, vitals, bottleneck
trace, profile, record, recording, performance, span
record, recording, video, capture, film, screencast
log, output, message, history, print, journal, event, stdout, trail
console, log, output, terminal, message, devtools
error, exception, failure, issue, crash, problem, bug, fault, broken, failing, failed, wrong, stacktrace
issue, ticket, bug, problem, task, defect, report, story, incident
issue, error, exception, event, crash, bug, incident
event, occurrence, calendar, happening, activity, engagement
task, todo, job, assignment, action item, reminder, engagement, to do
project, workspace, repository, codebase, folder
repository, repo, project, codebase, git, source
branch, ref, version, head
commit, revision, change, history, push, changeset, checkin
commits, history, changed lately, log, who changed, recently, change
pull request, pr, merge request, mr, change request, code review, patch
merge request, mr, pull request, pr
tag, label, release, category, mark
release, version, tag, changelog, publish
rollback, roll back, go back to, revert, undo, previous version, version before, earlier version, restore
workflow, pipeline, ci, action, build, job, automation, flow
build, compile, pipeline, ci, job, workflow, make
pipeline, build, ci, workflow, job
automation, workflow, automate, zap, flow, integration
template, blueprint, example, boilerplate, preset, sample, starter
example, sample, demo, usage, snippet, how to
file, document, attachment, path, text file
folder, directory, dir, path, tree
directory, folder, tree, structure, layout, hierarchy
path, location, folder, directory, file
content, text, body, data, page, inside
text, string, body, words, content, copy
write, save, put, create, store, overwrite
permission, allow, access, right, role, rbac, authorize, grant
allowed, permitted, accessible, permission, access
user, person, member, people, account, profile, contact, owner, author, who, customer, colleague, teammate, employee, everyone
member, user, people, team, teammate
team, group, organization, org, company, workspace
organization, org, company, team, account, workspace
contact, person, customer, lead, people, crm
company, business, organization, firm, account, corporation
account, profile, subscription, user, storage, whoami, who am i, logged in, myself
profile, user, bio, account, about
login, log in, sign in, authenticate, auth, credential, password, token
secret, password, credential, token, key, vault, certificate
key, vault, secret, token, api key
certificate, tls, ssl, cert, https
config, configuration, setting, option, preference, parameter, env, environment, configure
environment, env, variable, setting, stage
variable, env, environment, parameter
channel, room, chat, conversation, group
chat, conversation, message, talk, dm, slack
message, chat, text, mail, post, note, email, dm, conversation
email, mail, message, inbox, newsletter
emoji, reaction, smiley, thumbs up, react, icon
reaction, react, emoji, thumbs up, like
thread, conversation, reply, discussion, topic
meeting, appointment, event, calendar, call
time, clock, date, timezone, hour, now, today, schedule
date, day, today, time, calendar, when
schedule, cron, timer, plan, calendar, recurring
page, tab, website, document, site, screen, webpage, html
tab, window, page
web, internet, online, website, site, net, www
website, site, web, page, url, domain, homepage
url, link, address, website, uri, href
link, url, hyperlink, href, reference
crawl, spider, scrape, whole site, all pages, site
scrape, extract, crawl, fetch, harvest, pull, page content, html, markdown, get the text
extract, parse, pull out, structured, scrape, get out, mine
map, sitemap, urls, site structure, discover, all addresses, every address, all links, every link, below
markdown, md, text, convert
convert, transform, translate, turn into, change, parse, transcode
translate, language, convert, localization
news, headline, article, press, recent, latest
article, post, story, blog, page
local, nearby, near, business, place, around, restaurant
place, location, business, restaurant, shop, venue, address, spot, poi, nearby
location, place, position, gps, coordinate, where, address, geolocation
coordinate, latitude, longitude, geocode, position, gps, lat
geocode, coordinate, address, latitude, longitude, lat lng
route, direction, way, navigation, path, drive, how do i get, driving
direction, route, way, drive, navigation, get from
distance, far, travel time, matrix, length, duration, how long, km
elevation, height, altitude, high, above sea level
weather, forecast, temperature, rain, climate
travel, trip, drive, flight, hotel, journey
price, cost, pricing, quote, expensive, money, cheap, charge, amount, fee
buy, purchase, order, checkout, shop, cart
product, item, listing, goods, merchandise, sku
order, purchase, cart, checkout
review, rating, opinion, feedback, stars
shop, store, ecommerce, shopify, retailer
stock, share, finance, ticker, market
video, youtube, clip, film, movie, recording
comment, reply, feedback
post, tweet, article, status, publish
social, linkedin, instagram, facebook, tiktok, twitter, x, reddit, network
job, position, vacancy, career, hiring, listing
database, db, data base, sql, storage, dataset, base
table, sheet, grid, relation, entity, spreadsheet
collection, table, set, group, bucket
record, row, entry, item, document, object, line, page
row, record, line, entry
field, column, property, attribute, key, cell
column, field, property, attribute
property, attribute, field, setting, column, metadata
schema, structure, definition, layout, model, field, mapping, format, column
index, mapping, search, key
query, sql, select, search, question, statement, ask, run
sql, query, statement, select, database, database query
insert, add, put, create, store, write, append
append, add, attach, insert, end, extend, concat
block, paragraph, section, content, element
child, children, sub, nested, inside, below
parent, above, ancestor, containing
backup, snapshot, dump, export, restore, copy
bucket, blob, storage, object, container, s3
storage, blob, disk, bucket, file share, volume
container, docker, pod, blob, image
pod, container, workload, instance
node, machine, instance, worker, host
cluster, kubernetes, k8s, aks, environment
kubernetes, k8s, kube, kubectl, cluster
kubectl, kubernetes, k8s, command
namespace, group, scope
resource, asset, object, item, entity
chart, graph, plot, diagram, visualization, visualize, histogram, figure
diagram, flowchart, mind map, chart, graph, drawing, schematic
pie, donut, proportion, share, percentage, composition
bar, column, histogram, comparison
line, trend, over time, time series, curve
scatter, correlation, points, relation
plot, chart, draw, graph
hierarchy, tree, org chart, organization, structure, treemap
funnel, conversion, stage, pipeline
word cloud, tag cloud, frequent words, words
port forward, tunnel, forward, proxy, expose, port
port, socket, service
service, svc, application, app, daemon
application, app, program, software, apk, package, web app
app, application, function, web app
device, phone, mobile, android, ios, iphone, emulator, simulator, tablet, handset
screen, display, monitor, view, page
orientation, landscape, portrait, rotate, rotation, sideways, upright, turn
swipe, scroll, flick
element, node, component, button, widget, item, control, locator
button, element, press, control, submit
form, field, input, fill, submit, survey
submit, send, form, button, confirm, press
dialog, popup, alert, modal, prompt, confirmation, window
option, dropdown, choice, select, combo, select box, menu
dropdown, select, option, combobox, menu
accessibility, a11y, aria, tree, snapshot
network, request, traffic, http, xhr, connection, api call, ajax
request, call, http, network, api
http, request, api, rest, webhook, endpoint
api, endpoint, rest, graphql, documentation, reference
webhook, callback, http, trigger
documentation, docs, how do i use, how to use, how does, syntax, manual, guide, doc, reference, help, readme, handbook, learn, instruction, how to
library, package, module, dependency, framework, sdk, npm
package, library, dependency, module, npm, app
dependency, package, library, module
version, release, tag, revision, number
migration, migrate, upgrade, move
upgrade, update, new version, newer, migrate, latest
best practice, guideline, recommendation, convention, guide, advice, good practice
recommend, advise, suggest, propose, advice, best, recommendation, advisor
code, source, program, script, snippet, programming
design, figma, layout, mockup, ui, frame, prototype
node, element, entity
frontend, ui, component, react, page
download, image, asset, icon
model, ai, llm, machine learning, foundation
deployment, release, deploy, rollout, app
subscription, plan, account, billing
billing, invoice, payment, cost, charge, bill
quota, limit, usage, capacity, availability
region, location, zone, datacenter
role, permission, rbac, access, assignment, right
alert, notification, alarm, warning, monitor, notify
notification, alert, message, push
monitor, watch, observe, metric, log, follow, check, tell me when, let me know, notify me, keep an eye, warn me, alert me, inform me, changes
dashboard, grafana, overview, panel, chart
feature flag, toggle, experiment, flag
queue, topic, bus, message, backlog
event hub, stream, event, kafka
cache, redis, memory
virtual machine, vm, server, instance, compute, machine
function, lambda, serverless, app
vector, embedding, semantic, similarity
sum, add, plus, total, calculate, math, addition
calculate, compute, math, sum, arithmetic
echo, repeat, say back, same message
compress, zip, gzip, shrink, pack
parallel, several, batch, multiple, many, at once, bulk
batch, bulk, multiple, several, many, many at once
multiple, several, many, batch, more than one, both, bunch, few
recent, latest, last, new, newest, lately, history
history, past, earlier, previous, log, recently, old
first, head, top, beginning
tail, end, last, follow
limit, maximum, cap, top
sort, order, rank, arrange
random, arbitrary, any
deep, thorough, research, comprehensive, in depth, detailed
agent, assistant, bot, ai, autonomous
session, connection, login, browser
proxy, vpn, captcha, unblock, bot detection, blocked
cookie, storage, session
pdf, document, paper, file, print
spreadsheet, sheet, excel, csv, table
csv, spreadsheet, excel, table, export
json, data, structured, object
html, markup, dom, source, page source, web page
seo, keyword, ranking, search engine
size, byte, big, large, disk usage, how big, heavy
info, information, detail, metadata, property, about, fact
exist, existing, there, present, available
feedback, bug report, suggestion, complain, survey
paid, payment, billing, pay
fork, branch, copy
star, favorite, like, bookmark
watch, follow, subscribe, monitor
subscribe, follow, watch, notification
current, now, active, present, today
active, running, open, current, live
status, state, progress, health, condition, how is, going, pending
progress, status, state, done
follow, watch, stream, tail
usage, consumption, used, cost, limit, credit
regression, test, flaky
flaky, unstable, intermittent, random, test
usage, credit, quota
hypothesis, thought, idea
apply, manifest, yaml, deploy, put on
context, cluster, switch, profile, current
drain, cordon, maintenance, evict, out of service, unschedulable
helm, chart, release, package
heap, heapsnapshot, memory, leak, ram, memory leak
emulate, dark mode, color scheme, user agent, cpu throttling, slow network, slow connection, offline, geolocation
dialog, dismiss, accept, confirm, popup
lighthouse, score, seo, audit, accessibility, performance
insight, vitals, lcp, cls, core web vitals, bottleneck
css, style, stylesheet, font, color, appearance, computed
clipboard, paste, copied text, cut
crash, crash report, exception, died
foreground, active, current, in front
allocate, reserve, book, borrow, acquire
release, free, give back, hand back, return
location, gps, mock, fake, position
terminate, force, close, quit, kill
deal, opportunity, sale, lead, object, crm, customer, ticket
association, relate, link, relation, connect, relationship, belongs to
engagement, note, task, call, meeting, reminder
property, field, attribute, custom field
artifact, build output, output, file, produced, coverage report, result
test result, test, failed test, passed, junit
underused, oversized, waste, idle, resource class, too big, unused
gauge, liquid, percentage, progress, level
boxplot, quartile, outlier, distribution, median, spread
histogram, distribution, frequency, bins
violin, density, distribution
radar, spider, dimension, skill, compare, web chart
sankey, flow, between, energy, transfer
venn, overlap, intersection, common, sets, in common
waterfall, cumulative, increase, decrease, step by step
fishbone, cause, effect, ishikawa, root cause, reason
dual, two, combination, combined, second axis, axes
district, region, province, state, country, regional, map
pin, marker, point, map, locations on a map, dot
path, route, itinerary, trip, travel
area, cumulative, volume, trend
trend, over time, months, year, developed, development, growth, time, line
funnel, drop off, conversion, step, stage
network, relationship, connection, who knows, graph
organization, org chart, hierarchy, boss, reporting line, staff, department
mind map, idea, brainstorm, topic
flow, flowchart, process, decision, step, diagram
pivot, spreadsheet, table, excel, tabular
cause, reason, why, root cause, diagnose
lesson, course, tutorial, learn, class, training
course, lesson, progress, training
export, api, function, member, module
graphql, admin, api, mutation, query
theme, liquid, template, storefront
shard, partition, replica, index
indices, index, collection, list
paper, article, publication, study, arxiv, scientific, academic, literature, research
citation, related, reference, cites, similar
passage, excerpt, quote, part, section
monitor, recurring, schedule, watch, change, track
crawl, job, status, progress
replay, session, recording
seer, ai, root cause, analyze, fix
outage, health, down, available, up, incident, resource health
stream, ingestion, kafka, event, hub
publish, subscribe, topic, pub sub, event, grid
queue, service bus, topic, messaging, message
nosql, cosmos, document, database
registry, image, container, docker, acr
kubernetes, aks, managed cluster
hosting, app service, web app, website, host
serverless, function, lambda, functionapp
stress, load, load test, traffic, simulate users
realtime, websocket, signalr, live, push
speech, voice, audio, transcribe, speak, text to speech, speech to text, spoken, dictation
transcribe, subtitle, transcript, speech
sms, text message, phone, email, communication
desktop, virtual, session host, remote desktop, avd
advisor, recommendation, optimize, save money, improve, savings
compliance, policy, rule, governance, audit, regulation, security
tamper, ledger, immutable, confidential, append, blockchain
architecture, architect, design, solution, blueprint, well architected, reliable
terraform, infrastructure, bicep, iac, template, infrastructure as code
machine, compute, vm, virtual machine, server, instance, disk
lustre, hpc, parallel, file system, cluster
iot, device, sensor, thing
telemetry, application insights, monitor, tracing
workbook, dashboard, report, visualization
dashboard, grafana
kusto, adx, data explorer, kql, log, cluster
log, kql, workspace, query, monitor
cli, command line, terminal, shell, command
foundry, model, agent, ai, deployment, openai, llm
ai, artificial intelligence, model, llm, machine learning
marketplace, offer, product, catalog
price, retail, sku, cost, how much, pay, costs
echo, parrot, repeat
annotation, annotated, metadata, comment
long running, slow, operation, progress, minutes
simulate, fake, mock, demo, test
toggle, turn on, turn off, switch, enable, disable
enable, turn on, activate, switch on
disable, turn off, deactivate, switch off
zip, gzip, compress, archive, pack
base64, binary, media, audio, image
media, image, audio, picture, photo, sound, song, mp3, video
tree, nested, recursive, hierarchy, folder structure, everything under
whole, entire, complete, everything, full, all
multiple, at once, in one go, together, both, several
private, secret, confidential
public, open, visible
draft, write, compose, prepare
summary, overview, status, dashboard
latest, newest, last, current, recent, most recent
status, checks, passed, green, red, ci, result
changed, files, diff, touched, modified, affected
reviewer, review, approve, feedback, request changes
out of date, behind, update, sync, latest
history, commits, log, recently, lately
starred, stars, popular
bug, issue, problem, defect, broken, report
teammate, colleague, coworker, user, member, people
conversation, thread, replies, answers, discussion
channel, room, group
icon, svg, png, asset, image
layout, design, mockup, screen, figma, spec
attachment, file, upload, attach
base, database, workspace, airtable
cell, field, value, column
wiki, page, notion, doc, note
bullet, list item, block, paragraph, heading
bot, token, self, integration, who am i, me
template, ready made, prebuilt, example, starter
node, step, action, integration, block
`;

/** Abbreviations and commands, and what they mean. */
const SHORT_FORMS = `
mkdir: create directory
ls: list directory
cat: read file
rm: delete file
mv: move file
cp: copy file
touch: create file
grep: search text
curl: fetch url
wget: download url
ps: list process
gh: github
gl: gitlab
k8s: kubernetes
kube: kubernetes
pg: postgres sql
psql: postgres sql
postgresql: postgres
mongo: mongodb
es: elasticsearch
fs: filesystem
gmaps: google maps
az: azure
hs: hubspot
pr: pull request
prs: pull request
mr: merge request
mrs: merge request
repo: repository
db: database
dir: directory
env: environment
config: configuration
docs: documentation
msg: message
img: image
pic: picture
info: information
auth: authentication
perms: permission
perf: performance
js: javascript
py: python
ts: typescript
kv: key vault
vm: virtual machine
vms: virtual machine
rbac: role access
acl: access role
dm: direct message
qty: quantity
num: number
btn: button
nav: navigate
exec: execute
del: delete
upd: update
diff: difference changes
ci: pipeline build
cd: deploy pipeline
lint: lint check code
apk: android app
ipa: ios app
dom: html element
css: css style
a11y: accessibility
serp: search results
kql: query logs
sql: sql query database
regex: pattern
cron: schedule
useeffect: react
sideways: orientation landscape
upright: orientation portrait
replicas: scale replica
copies: replica copy
`;

/** The meanings of words, as marks that occur in no text: words that share a mark mean about the same. */
export interface Vocabulary {
  /** By the stem of a word. */
  readonly meanings: ReadonlyMap<string, readonly string[]>;
  /** Expressions of several words, by the stem of the first. */
  readonly expressions: ReadonlyMap<string, readonly Expression[]>;
}

interface Expression {
  /** The stems of all words. */
  readonly stems: readonly string[];
  readonly meanings: readonly string[];
}

type Stems = readonly string[];

/** All words with the same mark. */
interface Group {
  readonly mark: string;
  readonly members: readonly Stems[];
}

const GROUPED = readLines(GROUPS).map((line, at): Group => ({ mark: `~${at}`, members: stemsOf(line) }));
const SAID = readLines(SAYINGS).map((line, at) => {
  const [tools = '', said = ''] = line.split(': ');
  return { mark: `~s${at}`, tools: stemsOf(tools), said: stemsOf(said) };
});

/** The meanings of words in tools. */
export const OF_TOOLS = vocabulary([
  ...GROUPED,
  ...SAID.map(({ mark, tools }) => ({ mark, members: tools })),
]);

/** The meanings of words in queries: the same, and everyday expressions. */
export const OF_QUERIES = vocabulary([
  ...GROUPED,
  ...SAID.map(({ mark, tools, said }) => ({ mark, members: [...tools, ...said] })),
]);

function readLines(text: string): string[] {
  return text.trim().split('\n');
}

function stemsOf(list: string): Stems[] {
  return list.split(', ').map((each) => wordsOf(each).map(stem));
}

function vocabulary(groups: readonly Group[]): Vocabulary {
  const meanings = new Map<string, string[]>();
  const expressions = new Map<string, Expression[]>();
  for (const { mark, members } of groups)
    for (const stems of members) {
      const [first, second] = stems;
      if (first === undefined) continue;
      if (second !== undefined) {
        const same = expressions.get(first) ?? [];
        expressions.set(first, same);
        const known = same.findIndex((each) => each.stems.join(' ') === stems.join(' '));
        if (known === -1) same.push({ stems, meanings: [mark] });
        else same[known] = { stems, meanings: [...(same[known]?.meanings ?? []), mark] };
      } else {
        const known = meanings.get(first) ?? [];
        if (!known.includes(mark)) meanings.set(first, [...known, mark]);
      }
    }
  return { meanings, expressions };
}

/** The words that an abbreviation stands for. */
export const LONG_FORMS: ReadonlyMap<string, readonly string[]> = new Map(
  SHORT_FORMS.trim()
    .split('\n')
    .map((line): [string, string[]] => {
      const [short = '', long = ''] = line.split(': ');
      return [short, long.split(' ')];
    }),
);
