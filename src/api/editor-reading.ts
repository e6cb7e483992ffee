import { readingFormats } from '../content/reading.ts'

/** How the content of an editor is answered. */
export const contentFormat = {
  type: 'string',
  enum: readingFormats,
  default: 'json',
  description:
    '`json`: as update takes it for the type found; `text`, `xml`, `delta`, `xmltext`: as update takes it for that type; ' +
    '`update`: base64 of the Yjs state (V1).',
} as const
