export { askPerson, canAsk } from './ask-person.ts';
export { Control, type Applied } from './control.ts';
export { managementTools } from './tools.ts';
