import type { Engine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { directoryOn, scopeOf, type TestDirectory } from '../data/directory.ts'
import { HeldClock } from '../time/clock.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from './server.ts'

export type ItemResults = Record<string, { success: boolean; message: string }>

/** A server with the organization `acme`, and the services on its store. */
export interface PeopleServer extends TestServer {
  readonly directory: Omit<TestDirectory, 'engine' | 'clock' | 'close'>
  readonly engine: Engine
  readonly clock: HeldClock
  /** Posts `data` with `organizationId` `acme`, and returns `result.data` of a required success. */
  readonly call: <Data>(path: string, data: object) => Promise<Data>
}

/** Operations that name their organizations differently. */
const ofOrganizations = /^\/v2\/organizations\/\w+$/

/**
 * The organization has documents `d1` to `d3`, folders `f1` and `f2`, and no users. The clock of the server
 * stands still.
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

/** Returns the status of the error, and the places of its issues. */
export const errorOf = ({ body }: Answer): readonly (string | undefined)[] => [
  body.error?.status,
  ...(body.error?.details?.issues ?? []).map(({ path }) => path),
]

/** Ids that are easy to handle incorrectly. */
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
