/** An object as JSON knows it. */
export type JsonObject = { [key: string]: unknown };
