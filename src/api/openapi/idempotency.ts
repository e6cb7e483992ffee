import { idempotencyHeader, keyLengthMax, replayedHeader } from '../idempotency/idempotent-call.ts'
import { idempotencyLimits } from '../idempotency/limits.ts'
import type { DocumentedError, Effect } from '../operation.ts'

interface Affecting {
  readonly effect: Effect
}

const madeAgain =
  'If the server stops or fails while a call is carried out, the next one is carried out again'

/** What operations that change something take, each of its own kind. */
export const idempotencyParameters = {
  KeyOfOnce: parameter(
    'If the server stops or fails while a call is carried out, and it cannot be known what was done, the next one is ' +
      'ABORTED with `unknown` as `details.outcome`: look, and call with another key if it was not done.',
  ),
  KeyOfAdds: parameter(
    `${madeAgain}: ids that you leave out are the same again, so nothing is added twice; of an item to which you gave an ` +
      'id it may be said that it is there already.',
  ),
  KeyOfRepeatable: parameter(
    `${madeAgain}, which leaves the same, though it may say that less was to be done.`,
  ),
}

function parameter(afterFailure: string): object {
  return {
    name: idempotencyHeader,
    in: 'header',
    required: false,
    description:
      'Any text that no other call of yours has, such as a UUID. The same call with the same key is carried out once, ' +
      'also when it is made several times at once, and answered each time as the first time: as a success, or as a ' +
      'refusal for what there is or is not (403, 404, 409 ALREADY_EXISTS, FAILED_PRECONDITION). INVALID_ARGUMENT, ' +
      'UNAUTHENTICATED, ABORTED and RESOURCE_EXHAUSTED are not remembered. ' +
      `${afterFailure} The key with another operation or another body, of which every byte counts, is INVALID_ARGUMENT. ` +
      'Keys are remembered for 24 hours, unless the server is told otherwise.',
    schema: { type: 'string', minLength: 1, maxLength: keyLengthMax, pattern: '^[!-~]+$' },
  }
}

export const idempotencyHeaders = {
  IdempotentReplayed: {
    description: `Says \`true\` when the answer is that of an earlier call with the \`${idempotencyHeader}\`; else absent.`,
    schema: { type: 'string', enum: ['true'] },
  },
}

const parameterOf: Readonly<Record<Exclude<Effect, 'reads'>, keyof typeof idempotencyParameters>> = {
  once: 'KeyOfOnce',
  adds: 'KeyOfAdds',
  repeatable: 'KeyOfRepeatable',
}

/** `parameters` of an operation, if it has any. */
export function parametersOf({ effect }: Affecting): object {
  if (effect === 'reads') return {}
  return { parameters: [{ $ref: `#/components/parameters/${parameterOf[effect]}` }] }
}

/** Headers of its answers beside those that all have. */
export const replayHeadersOf = ({ effect }: Affecting): object =>
  effect === 'reads' ? {} : { [replayedHeader]: { $ref: '#/components/headers/IdempotentReplayed' } }

const errors: readonly DocumentedError[] = [
  {
    status: 'INVALID_ARGUMENT',
    code: 'idempotency/key-reused',
    when: `the \`${idempotencyHeader}\` was used for another call`,
  },
  {
    status: 'ABORTED',
    code: 'idempotency/in-progress',
    when:
      `the first call with the \`${idempotencyHeader}\` is under way (\`details.outcome\` is \`running\`), ended nobody ` +
      `knows how (\`unknown\`), or had an answer of more than ${idempotencyLimits.answerBytes} bytes, or one that found no place ` +
      'any more, which is not kept (`done`)',
  },
  {
    status: 'RESOURCE_EXHAUSTED',
    when:
      `${idempotencyLimits.calls} calls with an \`${idempotencyHeader}\`, or ${idempotencyLimits.bytes} bytes of their ` +
      'answers, are remembered',
  },
]

/** Errors that the header can lead to. */
export const idempotencyErrors = ({ effect }: Affecting): readonly DocumentedError[] =>
  effect === 'reads' ? [] : errors
