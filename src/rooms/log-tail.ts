/** What lies behind the snapshot in the log. */
export interface LogTail {
  entries: number
  bytes: number
}
