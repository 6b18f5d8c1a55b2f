export { Control, type Applied } from './control.ts';
export { managementTools } from './tools.ts';
