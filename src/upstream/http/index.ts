export { openRemoteLink, type RemoteLinkOptions } from './remote-link.ts';
