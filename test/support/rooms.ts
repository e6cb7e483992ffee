import type { VisitNotes } from '../../src/events/visits.ts'
import type { EditNotes } from '../../src/events/windows.ts'
import type { DocumentRecords } from '../../src/rooms/going.ts'

/** For tests of rooms alone, where nobody keeps records of documents. */
export const noRecords: DocumentRecords = {
  ensure: () => Promise.resolve(),
  isGoing: () => Promise.resolve(false),
}

/** Likewise, where nobody notes who edits. */
export const noEdits: EditNotes = { noted: () => null }

/** Likewise, where nobody notes who comes and goes. */
export const noVisits: VisitNotes = { came: () => {}, went: () => {} }
