/** What gets us past the door of a remote server, where no header of its configuration does. */
export interface Login {
  /** The value of the Authorization header to send now; undefined where nobody has logged in. Never rejects. */
  authorization(): Promise<string | undefined>;
  /**
   * The server did not accept what was sent (`refused`, undefined where nothing was). Resolves with another value that is
   * worth one more try, or undefined: then a person has to log in. All who ask at one time share one answer. Never rejects.
   */
  renewed(refused: string | undefined, challenge: string | undefined): Promise<string | undefined>;
}
