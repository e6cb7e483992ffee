import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { feedEvent } from '../../../src/capabilities/feed/api/feed-schema.ts'
import { eventData, eventGroups } from '../../../src/capabilities/webhooks/api/event-schema.ts'
import type { Schema } from '../../../src/core/base/schema.ts'
import type { EventType } from '../../../src/core/events/outbound-event.ts'
import { publicSchema } from '../../../src/rest/openapi/schemas.ts'

/** Returns the published schema, which rejects members that it does not list. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, each]) => [name, closed(each)]))
  const isList = 'properties' in schema && !('additionalProperties' in schema)
  return isList ? { ...inner, additionalProperties: false } : inner
}

const ajv = new Ajv2020({ strict: false, formats: { id: true, byte: true, 'date-time': true } })
const checks = new Map<Schema, ValidateFunction>()

/** Returns why a value does not fit its schema, or has members that the schema does not list; null if it fits. */
function problems(schema: Schema, value: unknown): unknown {
  const check = checks.get(schema) ?? ajv.compile(closed(publicSchema(schema)) as object)
  checks.set(schema, check)
  return check(value) ? null : check.errors
}

/** Returns why the body of a request to an endpoint does not fit its schema; null if it fits. */
export const payloadProblems = (body: Readonly<Record<string, unknown>>): unknown =>
  problems(eventGroups.find(({ types }) => types.includes(body.event as EventType))?.payload as Schema, body)

/** Returns why the data of an event does not fit its schema; null if it fits. */
export const dataProblems = (type: EventType, data: unknown): unknown => problems(eventData[type], data)

/** Returns why an event of the feed does not fit its schema; null if it fits. */
export const feedEventProblems = (event: unknown): unknown => problems(feedEvent, event)
