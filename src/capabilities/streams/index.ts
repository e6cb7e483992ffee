import { defineCapability } from '../../rest/capability.ts'
import { contentStreamRoute } from './api/stream-route.ts'
import { contentStreamDescription } from './api/stream-schema.ts'
import { StreamService } from './stream-service.ts'
import { streamSource } from './user-data.ts'

interface Added {
  readonly streams: StreamService
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Content that arrives in pieces, such as the text of a model. */
export const streams = defineCapability({
  name: 'streams',
  create: (services) => ({ streams: new StreamService(services) }),
  userData: ({ engine }) => ({ ofTenant: [streamSource(engine.kv)] }),
  routes: (services, edge) => [contentStreamRoute(services, edge)],
  paths: [contentStreamDescription],
  start: ({ streams }) => streams.start(),
  stop: ({ streams }) => streams.stop(),
})
