import { npmServer } from '../../helpers/temp-project.ts';
import type { Step, Traffic } from '../../helpers/traffic.ts';

const call = (title: string, name: string, args: object = {}, more: Partial<Step> = {}): Step => ({
  title,
  method: 'tools/call',
  params: { name, arguments: args },
  ...more,
});

const edits = [{ oldText: 'two', newText: 'zwei' }];

export const filesystem: Traffic = {
  server: 'filesystem',
  start: (dir) => npmServer('filesystem', dir),
  files: {
    'hello.txt': 'Hello, Tschüß 😀\n',
    'lines.txt': 'one\ntwo\nthree\nfour\n',
    'pixel.png': 'not really a picture',
    'sound.wav': 'not really a sound',
    'sub/deep.txt': 'deep\n',
    'sub/more/deeper.txt': 'deeper\n',
  },
  version: '2025-06-18',
  capabilities: { roots: { listChanged: true } },
  replies: { 'roots/list': '"result":{"roots":[{"uri":"file://$dir","name":"files"}]}' },
  blurs: [
    {
      name: 'time',
      why: 'every run has files of its own, and they are as old as the run',
      find: /(created|modified|accessed): [^\\"]*/g,
      as: (found) => found.replace(/: .*/, ': <time>'),
    },
  ],
  steps: [
    {
      title: 'initialize',
      method: 'initialize',
      hears: ['roots/list'],
      // The new folders count from here on.
      stderr: /Updated allowed directories from MCP roots: 1 /,
    },
    { title: 'tools/list', method: 'tools/list' },
    call('list_allowed_directories', 'list_allowed_directories'),
    call('read_text_file', 'read_text_file', { path: '$dir/hello.txt' }),
    call('the head of a file', 'read_text_file', { path: '$dir/lines.txt', head: 2 }),
    call('the tail of a file', 'read_text_file', { path: '$dir/lines.txt', tail: 1 }),
    call('head and tail at once', 'read_text_file', { path: '$dir/lines.txt', head: 1, tail: 1 }),
    call('read_file', 'read_file', { path: '$dir/hello.txt' }),
    call('a file that is not there', 'read_text_file', { path: '$dir/missing.txt' }),
    call('a file outside', 'read_text_file', { path: '/etc/passwd' }),
    call('a path of the wrong type', 'read_text_file', { path: 7 }),
    call('read_media_file, a picture', 'read_media_file', { path: '$dir/pixel.png' }),
    call('read_media_file, a sound', 'read_media_file', { path: '$dir/sound.wav' }),
    call('read_multiple_files', 'read_multiple_files', { paths: ['$dir/hello.txt', '$dir/missing.txt'] }),
    call('read_multiple_files without files', 'read_multiple_files', { paths: [] }),
    call('write_file', 'write_file', { path: '$dir/new.txt', content: 'new\u2028 text' }),
    call('write_file outside', 'write_file', { path: '/new.txt', content: 'x' }),
    call('edit_file, only tried', 'edit_file', { path: '$dir/lines.txt', edits, dryRun: true }),
    call('edit_file', 'edit_file', { path: '$dir/lines.txt', edits }),
    call('edit_file where nothing fits', 'edit_file', { path: '$dir/lines.txt', edits }),
    call('create_directory', 'create_directory', { path: '$dir/made/here' }),
    call('list_directory', 'list_directory', { path: '$dir/sub' }),
    call('list_directory of a file', 'list_directory', { path: '$dir/hello.txt' }),
    call('list_directory_with_sizes', 'list_directory_with_sizes', { path: '$dir/sub', sortBy: 'size' }),
    call('directory_tree', 'directory_tree', { path: '$dir/sub', excludePatterns: ['deeper*'] }),
    call('move_file', 'move_file', { source: '$dir/new.txt', destination: '$dir/made/moved.txt' }),
    call('move_file that is gone', 'move_file', { source: '$dir/new.txt', destination: '$dir/x.txt' }),
    call('search_files', 'search_files', { path: '$dir', pattern: '**/deep*.txt' }),
    call('get_file_info', 'get_file_info', { path: '$dir/made/moved.txt' }),
    call('an unknown tool', 'no_such_tool', {}, { unknown: 'no_such_tool' }),
    {
      title: 'roots changed',
      method: 'notifications/roots/list_changed',
      notification: true,
      replies: { 'roots/list': ['"result":{"roots":[{"uri":"file://$dir"},{"uri":"file://$dir/sub"}]}'] },
      hears: ['roots/list'],
      stderr: /Updated allowed directories from MCP roots: 2 /,
    },
    call('list_allowed_directories after the change', 'list_allowed_directories'),
    { title: 'ping', method: 'ping' },
  ],
};
