import { keyspaces } from './keyspaces.ts'
import { addChecksum } from './record-codec.ts'

/**
 * Version number of the layout of keys and records. A LevelDB store and every backup have this layout. A server
 * refuses a store that has a higher number.
 */
export const formatVersion = 2
export const formatKey = Buffer.concat([keyspaces.meta, Buffer.from('format')])

/** Returns the record under `formatKey`, which contains the version number. */
export const encodeFormat = (): Buffer => addChecksum(formatKey, Buffer.of(formatVersion))
