/** What the server as a library and the client have in common: the types of operations, results and events. */
export type * from './codes.ts'
export type { CallOptions, ListMethod } from './methods.ts'
export type * from './operation-types.ts'
export * from './result.ts'
export type * from './weft-event.ts'
