// What a server needs once it is used; ../source.ts loads it then.
export { listAll } from '../lists/list.ts';
export { ToolHeaders } from '../modern/tool-headers.ts';
export { Connection } from './connection.ts';
