/** A JSON object. */
export type JsonObject = { [key: string]: unknown };
