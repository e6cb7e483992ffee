import { type Appended, appendTo } from '../cluster/appending.ts'
import { waysOver } from '../cluster/deployments.ts'
import { type Heard, hearInVain, type Telling } from '../cluster/hearing.ts'
import { type Idle, idle } from '../cluster/idling.ts'
import { fill } from '../cluster/opening.ts'
import { startStores } from '../cluster/stores.ts'
import { type Pace, type Typed, typeAcross } from '../cluster/typing.ts'
import { progress } from '../support/report.ts'
import { characters } from '../sync/connect.ts'

/** Values that were measured on two nodes with PostgreSQL and NATS on one machine. */
export interface Inputs {
  readonly appended: Appended
  readonly typed: Typed
  readonly heard: Heard
  readonly idle: Idle
  /** Size of the tables and indexes that a document needs in addition to its text, in bytes. */
  readonly documentBytes: number
}

export interface Size {
  readonly appending: { readonly documents: number; readonly inFlight: number; readonly seconds: number }
  readonly pace: Pace
  readonly telling: Telling
  /** Number of documents that are opened. `documents` is the number of stored documents. */
  readonly rooms: number
  readonly documents: number
}

export async function measure(size: Size): Promise<Inputs> {
  const stores = await startStores()
  const [, , cluster] = waysOver(stores)
  const bar = progress('capacity')
  const { postgres: appended } = await appendTo(stores, size.appending)
  bar.at(0.2)
  const typed = await typeAcross(cluster, stores, size.pace)
  bar.at(0.4)
  const heard = await hearInVain(stores, size.telling)
  bar.at(0.5)
  const filled = await fill(stores, size.documents)
  bar.at(0.7)
  const idled = await idle(cluster, filled, size.rooms)
  bar.end()
  return { appended, typed, heard, idle: idled, documentBytes: filled.bytesEach - characters }
}
