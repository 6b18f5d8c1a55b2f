export { replicaAddress } from './address.ts';
export { Replicas } from './replicas.ts';
