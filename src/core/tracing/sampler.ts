import { type Context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import {
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

/** Maximum number of traces of client updates per second. Their commits are far more frequent than calls. */
export const updateTracesPerSecondMax = 100

const sampledKey = createContextKey('weft.sampled')

/** Parent of a span whose sampling is decided already: the span begins a trace and is recorded. */
export const sampledRoot: Context = ROOT_CONTEXT.setValue(sampledKey, true)

/**
 * Creates the sampler `parentbased_traceidratio` of OpenTelemetry.
 * @param ratio share of the traces that begin in this process and are recorded, from 0 to 1
 */
export function createSampler(ratio: number): Sampler {
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  return {
    shouldSample: (context, ...rest) =>
      context.getValue(sampledKey) === true
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(context, ...rest),
    toString: () => sampler.toString(),
  }
}

/**
 * Decides which updates of clients begin a trace. The decision is made before anything is allocated, and the number
 * of these traces per second is bounded.
 */
export class UpdateSampler {
  readonly #ratio: number
  #second = 0
  #count = 0

  /** @param ratio share of the updates that begin a trace, from 0 to 1 */
  constructor(ratio: number) {
    this.#ratio = ratio
  }

  isSampled(): boolean {
    if (this.#ratio < 1 && Math.random() >= this.#ratio) return false
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= updateTracesPerSecondMax
  }
}
