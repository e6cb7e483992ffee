import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, scopeOf, type TestDirectory } from '../data/directory.ts'
import { HeldClock } from '../time/clock.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from './server.ts'

export type ItemResults = Record<string, { success: boolean; message: string }>

/** A server with the organization `acme`, and services that use the same store. */
export interface PeopleServer extends TestServer {
  readonly directory: Omit<TestDirectory, 'engine' | 'clock' | 'close'>
  readonly engine: Engine
  readonly clock: HeldClock
  /**
   * Calls an operation with `organizationId: 'acme'` and `data`. Returns `result.data`. Throws if the call
   * fails.
   */
  readonly call: <Data>(path: string, data: object) => Promise<Data>
}

/** Operations in which the ids of organizations have another place. */
const ofOrganizations = /^\/v2\/organizations\/\w+$/

/**
 * Starts a server with the organization `acme`. The organization has the documents `d1` to `d3`, the folders
 * `f1` and `f2`, and no users. The clock of the server stands still until a test advances it.
 */
export async function startPeopleServer(): Promise<PeopleServer> {
  const [engine, clock] = [await openMemoryEngine(), new HeldClock(Math.floor(Date.now() / 1000) * 1000)]
  const server = await startTestServer({}, { engine, clock })
  const directory = directoryOn(engine, clock)
  const scope = scopeOf(server.credentials, 'acme')
  await directory.organizations.ensure(scope)
  await directory.folders.add(scope, [{ folderId: 'f1' }, { folderId: 'f2' }])
  const documents = ['d1', 'd2', 'd3'].map((documentId) => ({ documentId }))
  await directory.documents.add(scope, documents, { createFolder: false })
  const call = async <Data>(path: string, data: object): Promise<Data> =>
    dataOf(
      await server.post(path, { ...(!ofOrganizations.test(path) && { organizationId: 'acme' }), ...data }),
    ) as Data
  return { ...server, directory, engine, clock, call }
}

/** Returns the status of an error, and the paths of its issues. */
export const errorOf = ({ body }: Answer): readonly (string | undefined)[] => [
  body.error?.status,
  ...(body.error?.details?.issues ?? []).map(({ path }) => path),
]

/** Ids that code without care would handle incorrectly. */
export const oddIds: readonly string[] = [
  'a/b',
  '__proto__',
  'constructor',
  '😀 Ä',
  'x'.repeat(512),
  'dots...',
  '100%',
  '%2F',
  ' ',
  '...',
]
