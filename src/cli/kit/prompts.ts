export { confirm, isCancel, multiselect, select } from '@clack/prompts';
