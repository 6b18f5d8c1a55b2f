// What a server needs once it is used; loaded by ../source.ts at that point.
export { listAll } from '../lists/list.ts';
export { ToolHeaders } from '../modern/tool-headers.ts';
export { Connection } from './connection.ts';
