/** The one tool of a server behind a language model. */
export const NATURAL_LANGUAGE = 'natural_language';
