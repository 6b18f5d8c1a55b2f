export { RemoteTransport, type RemoteTransportOptions } from './remote-transport.ts';
