import { type QueryState, useAsync } from './hooks.ts'

/** What `/version` answers. */
export interface ServerVersion {
  readonly version: string
  /** Where clients reach the server; pages from there may use every API key. */
  readonly publicUrl: string
}

export const useServerVersion = (): QueryState<ServerVersion> =>
  useAsync<ServerVersion>(async () => (await fetch('/version')).json() as Promise<ServerVersion>, '/version')
