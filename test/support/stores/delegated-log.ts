import type { DocumentLog } from '../../../src/engine/engine.ts'

/** Returns the unchanged calls of a log, so that a test can replace single ones. */
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
