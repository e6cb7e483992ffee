import { causeOf, type ErrorCode, errorCodes, httpCodes } from '../core/base/error-codes.ts'
import { type ErrorExample, errorExamples } from './error-examples.ts'

export const errorCodeNames = Object.keys(errorCodes) as readonly ErrorCode[]

/** Returns the list of all error codes as Markdown: a heading for each area, and a line for each code, with a link to its page. */
export function errorList(): string {
  const areas = [...new Set(errorCodeNames.map(areaOf))]
  return areas
    .map((area) => {
      const lines = errorCodeNames.filter((code) => areaOf(code) === area).map(lineOf)
      return `## ${area}\n\n${lines.join('\n')}`
    })
    .join('\n\n')
}

/** Returns the page of one code as Markdown. */
export function errorPage(code: ErrorCode): string {
  const example = errorExamples[code]
  return [
    `# ${code}`,
    errorText(code),
    ...(example === undefined ? [] : [exampleOf(code, example)]),
    '[All codes](errors.md)',
  ].join('\n\n')
}

function exampleOf(code: ErrorCode, { message, details, item }: ErrorExample): string {
  const failure = { message, details: { ...details, code } }
  const response =
    item === undefined
      ? { error: { status: causeOf(code).status, ...failure } }
      : { result: { status: 'success', data: { [item]: { success: false, id: item, ...failure } } } }
  return `**Example:**\n\n\`\`\`json\n${JSON.stringify(response, null, 2)}\n\`\`\``
}

const areaOf = (code: ErrorCode): string => code.split('/')[0] ?? ''

const lineOf = (code: ErrorCode): string =>
  `- [${code}](http://localhost:8787/docs/errors/${code}) (${httpCodeOf(code)}): ${causeOf(code).meaning}`

/** Returns the meaning and the remedy of a code, as Markdown. */
export function errorText(code: ErrorCode): string {
  const { status, meaning, remedy } = causeOf(code)
  return `\`${status}\`, HTTP ${httpCodeOf(code)}. ${meaning}\n\n**Remedy:** ${remedy}`
}

function httpCodeOf(code: ErrorCode): number {
  const { status, httpCode = httpCodes[status] } = causeOf(code)
  return httpCode
}
