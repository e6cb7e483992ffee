import { type Reading, useReading } from './calls.ts'

/** What `/version` answers. */
export interface Version {
  readonly version: string
  /** Where clients reach the server; pages from there may use every API key. */
  readonly publicUrl: string
}

export const useVersion = (): Reading<Version> =>
  useReading<Version>(async () => (await fetch('/version')).json() as Promise<Version>, '/version')
