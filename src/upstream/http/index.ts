export { openRemoteTransport, type RemoteTransportOptions } from './remote-transport.ts';
