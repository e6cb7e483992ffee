import type { DocumentLog } from '../../../src/engine/engine.ts'

/** The calls of a log as they are, to be replaced one by one. */
export const delegatedLog = (log: DocumentLog): DocumentLog => ({
  hasOneWriter: log.hasOneWriter,
  append: (...parameters) => log.append(...parameters),
  load: (...parameters) => log.load(...parameters),
  loadAt: (...parameters) => log.loadAt(...parameters),
  heads: (...parameters) => log.heads(...parameters),
  list: (...parameters) => log.list(...parameters),
  compact: (...parameters) => log.compact(...parameters),
  adopt: (...parameters) => log.adopt(...parameters),
  destroy: (...parameters) => log.destroy(...parameters),
  destroyPrefix: (...parameters) => log.destroyPrefix(...parameters),
})
