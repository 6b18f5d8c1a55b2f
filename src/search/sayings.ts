/**
 * What people say, and the words that tools use for it, with the words of tools first. What people say stands for those
 * words, but these do not stand for each other. Everyday English, not specific to any server.
 */
export const SAYINGS = `
delete, remove, uninstall, drop: throw out, throw off, throw away, take off, take out, take away, get off, get rid, kick out, strike, cross out, scrap, ditch, dump, no longer, not any more, for good, permanently, lose, kill
delete, clear, reset: start over, all over, from scratch, begin again, empty
create, generate, add: make, new, set up, fresh, another, put together, come up with, whip up, begin
create, write, add: jot, note down, write down, put down
move, rename: put into, put under, put below, put in, bring to, shift, file under, somewhere else, another place
rename: another name, different name, new name, call it, name it, something else, call something else
copy, duplicate, clone, fork: own copy, same again, another one like
edit, update, patch, replace: change, fix, tweak, correct, swap, swap out, touch up, turn into, typo, instead of, no longer, has changed, set to, rewrite
update, upgrade: bring up to date, newer, out of date, behind, renew, catch up, latest
update, set, mark: mark as, turn into, change to, switch to, make it
update many, batch update: every, all of them, each of
list, get, find: which, what are, still open, outstanding, pending, remaining, left over, are there, do we have, do i have, have we got, is there, what is there, what exists, what have, show me, give me, who are
list, status: running, going on, alive, in progress, active
get, read: show, see, look at, look inside, open, tell me, what is in, what does say, what is written, what is inside, stands in, let me see
read, content, text, extract: written, say, says, wording, what does it say, what is written
get, describe, details: tell me about, all about, more about, what about, know about, everything about, look like, in detail
search, find: look for, look up, find out, where is, where are, where did, hunt for, mention, containing, with the word, that say, dig up, come across, exist, already, any
search: internet, online, google, on the net, look online
local search, search places, place: near me, nearby, around here, around the corner, close by, in town, bakery, cafe, restaurant, pharmacy, hotel, supermarket, bar, doctor, pizza, museum, school, petrol station, cinema, place to eat, eat
place details: opening hours, open now, phone number, rating
directions: how do i get, how to get, get there, get to, quickest way, fastest way, shortest way, way to, walk, bike, cycle, train, bus, by car, by train, on foot, drive
distance: how far, far, how long to drive, how long does take, minutes to, away from, kilometers, miles
elevation: how high, above sea, altitude, mountain, hill, summit, height
geocode: where on, where is, on the map, position of, which coordinates, location of
reverse geocode: which street, what street, address belongs, what is at, address at
weather: rain, sunny, cold, warm, umbrella
click: press, hit, tick, untick, push, check box, checkbox, touch, agree, submit
click, tap, press: finger, touch
long press: hold down, press and hold, keep pressed, keep finger, hold finger
double tap: tap twice, click twice, press twice
select option, select, dropdown: choose, choose from, pick, pick from, list of, out of list, menu
fill, type: write into, put into, enter, first box, box, into field, input, name into, key in, fill in
press key: hit enter, press enter, hit key, hotkey, shortcut, keyboard, escape key
wait: hold on, hang on, until, till, pause, give it time, seconds, appears, shows up, finished loading
hover: over, without clicking, mouse over, point at, mouse
drag: pull over, pull to, drop onto, grab, slide over
drag, move: pull to the
resize: smaller, larger, bigger, wider, narrower, shrink, enlarge, full screen, size
navigate, url: take me to, bring me to, open site, open page, go to, visit, show site, website, load page
back: one page back, page before, last page, previous page, where i was
forward: page after, next page, ahead
reload, refresh: load again, fresh page
tabs, pages: tab, windows, open pages
close: shut, shut down, finish with, done with
dialog: popup, pop up, are you sure, alert, warning box, message box, confirm box
file upload, upload: attach, add file, hand in, send file, application form, cv, put a file
console messages, console logs: javascript errors, page errors, throw errors, errors in page, error in the browser, browser error
network requests: calls, background calls, in the background, sent to server, talk to server, ajax, traffic, server calls, loaded files
screenshot: picture, photo, photograph, snap, see the screen, on the screen, what is on screen, looks like, look like, looks right now, capture, grab
snapshot: what is on the page, page content, which buttons, what can i click, text of page
screencast, screen recording, recording: film, video, footage, movie, record
emulate: pretend, act as if, as if, simulate, slow connection, slow network, dark mode, mimic, fake, offline
emulate media: dark mode, light mode, print view
css, styles: font, color, colour, look of, styled, spacing, margin
lighthouse, audit: search engines, seo, blind people, accessible, accessibility, quality of page, quality of site, usable, how good
heapsnapshot, memory: leak, memory grow, eats memory, too much memory, ram
performance trace, performance, trace: slow, slowly, load slowly, speed, how fast, measure speed, takes so long, takes long, sluggish
explain: why slow, slow query, takes so long, so slow, query plan, how is it executed
index, create index: faster, speed up, quicker, lookup, make faster
evaluate, script: run javascript, bit of javascript, execute code in page
run code: try out, piece of code, python, snippet, program, execute, script
lint: mistake, mistakes, code style, style, clean code, wrong with code, errors in code, semicolons
validate, check, lint: correct, mistake, right, valid, proper, well formed, in order, is it fine, broken, put together correctly, anything wrong
config, configuration: yaml, yml, settings file, setup file, set up
commit, commits, history: who changed, changed lately, went into, lately, recent changes, this week, what changed, last changes, who worked, contributed, been done
branch: side line, separate line, own line, without touching, try something, feature
update branch: behind, out of date, catch up, latest from main
merge: land, bring in, get in, take over, accept changes, ship
create pull request, create merge request: propose, propose changes, suggest changes, open pr, open a pull request, ask for review, submit my changes, offer
pull request review, create review: okay, ok, green light, thumbs up, lgtm, sign off, approve, request changes, reject
pull request comments, review comments: remarks, on the lines, left on, inline, say about my change, reviewers say
pull request reviews: who approved, anybody approved, approved yet, reviewers, verdict
pull request status, pipeline status, status: green, red, passing, checks, ci, checks passed, gone green, build green, did it pass, how is the build
pull request files: touched, files changed, diff, which files, what was changed
issue, issues: bug, bugs, ticket, problem, complaint, complain, complaining, trouble, defect, broken, report
create issue: file a bug, report, open a ticket, open a bug, file
update issue: close, reopen, solved, done, fixed, set to closed, mark as, assign, hand to, give to, ignore, resolve
issue comment, create comment, comment: write under, remark, say that, tell the reporter, leave a note, leave a remark, answer on, note on
search code, code: function used, is used, where used, source code, uses this
search users: account of, who is, find person
search repositories: project for, is there a project, library for
file contents: source of, code of file, show source, read file in the repo
create repository: fresh repo, new project, new repo
create or update file: put a file, new file in the repo, readme, add file
push files: several files, many files, commit files, all these files
file, text file: notes, letter, document, report, invoice, txt, on disk, on my disk, on my computer, draft
directory, folder: on disk, drive, downloads, desktop
directory tree: below, subfolders, everything below, all below, everything inside, underneath, nested folders, whole structure
directory with sizes, sizes: how big, how much space, biggest, large, takes up, heavy
file info, info: last changed, when was changed, last modified, created on, how old, who owns, how big
multiple files: these files, several files, all these files, at once, together, files together
allowed directories: may you, are you allowed, can you access, which folders, what may
write file: save, save to disk, save as, save text, new file, put into a file, store
media file: photo, song, sound, picture, image, audio, music
search files: find file, which files, files named, ending with, end with, where did i put, all files, all pictures
message: announce, announcement, word, tell everybody, tell the team, tell my team, let everybody know, let the team know, inform, spread the word
post message, send message: announce, tell the team, tell my team, let the team know, tell everybody, say in, write to, ping, drop a line
reply, thread: answer, respond, get back to, in the thread
thread replies: what did answer, answers, the others answer, responses, discussion below
reaction: heart, smile, smiley, thumbs up, emoji, like, laugh
channels: room, rooms, groups, chats
channel history, history: said, been said, was said, talked about, missed, this morning, today, yesterday, what did they write, been written
users: everybody, everyone, who works, people, staff, members, colleagues, team, employees
user profile: who is, job title, phone number, email of, details of person
memory, graph, entities, nodes: remember, keep in mind, told you, i told, know about, recall, what do you know, you know, never forget
create entities, add observations: remember, keep in mind, take note, bear in mind, note that, make a note, likes, prefers, works for, is called
create relations: works for, works with, belongs to, married, sister, brother, sibling, friend, parent, related to
delete relations: no longer works, no longer, separated, not related, broke up
delete observations, delete entities: forget, strike, no longer true, not any more, wrong about
search nodes, open nodes: remember about, know about, told you about, recall, what was it
read graph: everything you know, all you know, all you remember, all that you have, whole memory
sequential thinking, thinking: think hard, think about it, step by step, work out, figure out, ponder, reason
image, generate image: paint, draw, sketch, illustrate, illustration, portrait, artwork, logo, picture of, picture
images, icons: icons, pictures, svg, png, graphics, assets
design, layout: laid out, screen, looks, drawn
query, sql: ask the database, look up in the database, which customers, select, how many customers
find: show me, first few, some of, which documents, look up
aggregate: average, per category, mean, per month, group by, grouped, most, spent, total per, how many
count: how many, number of, how much, total
search events, events, event: how often, per day, per week, how many errors, occurrences
sum: plus, add up, together, total, add numbers, minus
schema, fields, mappings, columns: fields, which fields, what fields, structure, shape, what columns, how is it built
field, property, column: place for, room for, column, birthday, new kind of
create table, create collection: new table, place to store, new list
describe table: columns, what columns, structure of table
records, rows: row, line, entry, entries
create record, insert: put in, enter, new row, add row, store, new entry
storage size, size, stats: how much room, how big, space, room, takes up
connect: log on, log in, sign in, hook up, dial in, reach the server
export: save result, into a file, to a file, as a file, take out
logs: complain, complains, print, printed, what happened, protocol, said before, output, died
drop, drop database: throw away, whole, get rid, entire
pod, container: inside, died, restart, shell
exec: run in, inside container, in the container, shell in, log into, go into, get into, command inside
scale: more copies, more instances, fewer copies, start more, more of, replicas, run more
node management: out of service, maintenance, take machine, nothing new, empty the machine
rollout: restart, undo, roll back, previous version, version before, restart all
rollback: go back, version before, take back, previous version, old version, undo
delete, kubectl delete: throw out, take out, tear down
kubectl get, get resources: what is running, running, in my cluster, in the cluster, up and running
apply: put on, bring to, roll out, file
port forward: reachable, reach, on my machine, locally, localhost, from here, tunnel
helm chart, install helm: chart, package, put on
context: other cluster, which cluster, switch cluster, switch to, work on
explain resource: what does mean, meaning of, what is the field
deploy, deployment: put live, go live, put app, bring online, publish, release
build failure logs, failure: why did fail, fail, failed, break, broke, last build, why did build, went wrong, broken build
flaky tests: sometimes, only sometimes, now and then, on and off, randomly, unreliable, not always
test results: tests fail, failing tests, red tests, which tests, tests red, did tests, passed
rerun, workflow: again, once more, start again, retry, repeat, failed step, run again, one more time
run pipeline, trigger: start build, kick off, build it, build again, start the pipeline
artifacts: files produced, build produced, output of build, results of build, download from build
underused, resource: too big, oversized, unused, waste, paying for, idle
versions: which versions, deployed, out there
pie chart: share, shares, divided, divided up, split up, slices, parts of, percentage of
line chart: over time, developed, rise, fall, growth, trend, over months, over the year, over the last
area chart: over time, volume, developed
bar chart, column chart: compare, ranking, most to least, next to each other
radar chart: skills, strengths, compare by, several qualities, several sides
scatter chart: correlate, depend on, go with, points, relationship
sankey chart: flows, from where to where, goes from, goes to, where goes
funnel chart: drop out, leave, each step, lose, conversion, stages
histogram: spread, distribution, how spread, ranges, ages
boxplot, violin: spread, median, outliers
word cloud: words come up, most common words, often words, frequent words
venn: in common, overlap, both groups, share
organization chart: reports to, who reports, boss, staff, who is above
network graph: who knows, friends, connected with, who is connected, relationships
mind map: ideas, thoughts, topic, brainstorm
flow diagram: process works, process, steps of, how works, procedure
fishbone: causes, reasons, why did
treemap: nested, parts of, proportion
waterfall: adds up, plus and minus, up and down, contributions
liquid: how full, fill level, percent done, percent full
dual axes: two scales, both in one, and a line, together in one
spreadsheet: table, lay out, rows and columns, excel
pin map: places on, on a map, markers, dots, locations on
path map: trip, tour, journey, route on
district map: region, province, county, country, colour by, states
chart, diagram, graph: picture, drawing, draw, visual, plot, show as, as a picture
device: phone, handset, mobile, smartphone, tablet
apps, app: game, program, software, applications
orientation: sideways, on its side, turn, upright, landscape, portrait, rotate, flip
install app: put on phone, put app, new build, sideload, on my phone
launch app: open app, start app
terminate app: quit, close app, stop app, shut app, kill
uninstall app: throw off, off the phone, take off, remove from phone
screen elements, elements on screen: what can i tap, which buttons, on this screen, what is on
swipe: wipe, flick, scroll, slide, to the left, to the right
press button: home button, volume, hardware button, back button
clipboard: copied, was copied, copy paste, paste
foreground app: in front, on top, which app is open, am i in
location: as if in, pretend to be in, gps, were in, somewhere else
crash, crashes: die, died, dies, dying, crashed, went down, fell over, blew up, freezes, gave up
device logs: logcat, system log, log of phone
remote device: borrow, rent, from the cloud, test phone, hire
available devices: connected, plugged in, which phones, which devices
scrape, extract, fetch: article, webpage, text of page, page says, what does page say, read page, link say, clutter, without ads, readable, at this address, this link, get text, behind link, read me, web page
scrape batch, batch: these links, all these pages, several pages, many links, in one go
crawl: whole site, every page, all pages, entire site, entire website, whole website, whole documentation, download site
map: every address, all addresses, all links, every link, list of pages, all urls, below this, addresses
crawl status, status: how far, done yet, finished yet, progress, ready yet
monitor create, monitor: tell me when, let me know, changes, watch, keep an eye, notify me, alert me, whenever, inform me
monitor list: watching, am i watching, which monitors
monitor delete: stop watching, no longer watch, stop checking
parse, extract: numbers out, get out of, pdf, from document
research: thorough, in depth, report about, deep, everything about, study the topic, comprehensive
papers: scientific, study, studies, articles, science, scholarly, publications, academic, journal
related papers: similar, like this, more like, related
read paper: paper say, what does paper
news, web search: in the news, latest about, what is new, headlines, happened
credit usage, usage, quota: credits, do i have left, left, how much used, remaining, used up, limit, how many may
docs, documentation: how do i use, how do i call, how does work, instructions, newest, manual, explain how, official
pricing: cost, costs, how much does, price of, per month, expensive, cheap, pay
advisor: savings, save money, recommend, suggest, advice, should improve
role: who may, who can, access, allowed to, permitted
subscription: account, my subscriptions, mine
resource health: down, outage, working, available
load testing: visitors, many users, thousand users, stress
speech: voice, spoken, recording into text, dictate, talk
communication: text message, sms, phone message
compute: machine, machines, vm, virtual machine, server
cloud architect, architecture: how to build, plan for, design system, system design
key vault, secret: password, passwords, secrets, credentials
policy: rules, rule, must follow, compliance
cli generate: which command, what command, right command, command for
cli install: set up command, install command line, get the command line
root cause, analyze issue: what caused, why did, find out why, cause of, caused, reason for, behind this error
search issues: crashes, went wrong, run into, errors in production, production, exceptions, last night
find organizations: which companies, my organizations
find projects, list projects: which projects, my projects
database, data source: table, list of
block, paragraph: paragraph, section, line of text, heading
block children: paragraph, at the end, append, below
page: wiki, note, article, doc
create page, post page: write a page, new page, start a page
page markdown: read page, text of page, what does page say
query data source: which tasks, not done, filter, rows
patch page, update page: title, change title, rename page, properties
association, associations: belongs to, belong, attached to, works at, tied to, hang on, related
engagement: call, called, note, meeting, write down, spoke with
create objects, batch create: new customer, new contact, add customer, new company, deal, customer, contact
update objects, batch update: has changed, new number, change contact, changed, moved
search objects: which deals, which contacts, which customers, worth more, find contact, deals, contacts
get link: address where, url of, link to
user details: logged in, who am i, my account, who is logged in
theme: shop, storefront, store design
course: teach me, learn, lesson, class, tutorial
next step: go on, continue, carry on, proceed, next
migration: new version, upgrade, move to, newer version
templates: ready made, ready, example, prebuilt, premade
workflow: automation, automated, process
compress, gzip: shrink, smaller, pack, zip
echo: say back, repeat, same back, parrot
env, environment: variables, settings on the server, which settings
upload attachment: attach, add picture, put file, hang file
list comments, retrieve comment: who wrote, what was commented, remarks, comments on
move page: below another, put below, another place, under another
delete block: take off, remove paragraph, take out
`;
