/** The one tool of a server that a language model stands before. */
export const NATURAL_LANGUAGE = 'natural_language';
