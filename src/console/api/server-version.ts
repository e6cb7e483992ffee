import { type QueryState, useAsync } from './hooks.ts'

/** Response of `/version`. */
interface ServerVersion {
  readonly version: string
  /** URL at which clients reach the server. Pages from the origin of this URL may use every API key. */
  readonly publicUrl: string
}

export const useServerVersion = (): QueryState<ServerVersion> =>
  useAsync<ServerVersion>(async () => (await fetch('/version')).json(), '/version')
