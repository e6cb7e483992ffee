import { round, thousands } from '../support/report.ts'
import type { Inputs, Size } from './inputs.ts'
import { costsOf } from './model.ts'

const micros = (value: number): string => `${round(value, 1)} µs`
const bytes = (value: number): string => `${thousands(value)} bytes`

/** Returns one row for each name in a formula: its value and its meaning. */
export function measuredRows(inputs: Inputs, size: Size): string[][] {
  const { appended, idle, many, documentBytes } = inputs
  const { units } = many
  const { documents, inFlight } = size.appending
  const cost = costsOf(inputs)
  return [
    [
      'appends',
      `${thousands(appended.perSecond)}/s`,
      `durable, ${thousands(documents)} documents, ${inFlight} in flight, by one client process on the same machine: the maximum, which depends on the other work on the machine`,
    ],
    ['', micros(appended.databaseCpu), 'CPU of PostgreSQL for one of them, in large batches'],
    ['log', bytes(appended.walBytes), 'write-ahead log of PostgreSQL for one of them'],
    [
      'write',
      micros(units.update.writing),
      `CPU of the node of the writer for each update, at ${thousands(size.units.perSecond)} per second`,
    ],
    ['read', micros(units.update.reading), 'CPU of the node of each reader'],
    ['database', micros(units.update.postgres), 'CPU of PostgreSQL for each of these updates'],
    ['frame', bytes(units.update.frame), 'on the websocket, for one update to one reader'],
    ['node', micros(units.empty.node), 'CPU of a node without clients, per second'],
    ['', micros(units.empty.postgres), 'CPU of PostgreSQL for it'],
    [
      'idle',
      micros(units.idle.node),
      'CPU of a node for a document that is open and has no edits, per second',
    ],
    [
      '',
      units.idle.postgres > 0 ? micros(units.idle.postgres) : '0',
      units.idle.postgres > 0 ? 'CPU of PostgreSQL for it' : 'CPU of PostgreSQL for it: too small to measure',
    ],
    ['move', micros(units.cursor.moving), 'CPU of the node of a user who moves a cursor'],
    ['show', micros(units.cursor.showing), 'CPU of the node of each user who sees it'],
    ['', bytes(units.cursor.frame), 'on the websocket, for one move to one user'],
    ['write by REST', micros(units.write.node), 'CPU of all nodes for a small text of an existing document'],
    ['', micros(units.write.postgres), 'CPU of PostgreSQL for it'],
    ['page', micros(units.page.node), 'CPU of all nodes for a page of 100 documents by REST'],
    ['', micros(units.page.postgres), 'CPU of PostgreSQL for it'],
    [
      'open',
      micros(cost.open),
      `CPU of all nodes to connect a client to a document that its node must open, including its text: ${micros(many.idle.first.node)} if no node has it open, ${micros(many.idle.elsewhere.node)} if another node has it open. The mean of 1 connect of the first kind and people − 1 of the second`,
    ],
    ['', micros(cost.openDatabase), 'CPU of PostgreSQL to open it, the same mean'],
    ['', micros(many.idle.further.node), 'CPU of a node to connect a client to a document that it has open'],
    [
      'connection',
      bytes(idle.first.bytes),
      `memory of a node for the first client of a document: ${thousands(1e9 / idle.first.bytes)} a GB`,
    ],
    [
      '',
      bytes(idle.further.bytes),
      `memory of a node for each further client of it: ${thousands(1e9 / idle.further.bytes)} a GB`,
    ],
    ['document', bytes(documentBytes), 'tables and indexes for a stored document, in addition to its text'],
  ]
}
