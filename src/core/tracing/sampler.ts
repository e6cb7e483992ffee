import { type Context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../config/config.ts'

/** Maximum number of traces of client updates per second. Their commits are far more frequent than calls. */
export const updateTracesPerSecondMax = 100

type SamplerOptions = Pick<Config, 'tracesSampler' | 'tracesSamplerArg'>

const sampledKey = createContextKey('weft.sampled')

/** Parent of a span whose sampling is decided already: the span begins a trace and is recorded. */
export const sampledRoot: Context = ROOT_CONTEXT.setValue(sampledKey, true)

/** Returns the share of traces that the sampler records if they begin in this process, from 0 to 1. */
function rootRatio({ tracesSampler, tracesSamplerArg }: SamplerOptions): number {
  if (tracesSampler.endsWith('traceidratio')) return tracesSamplerArg
  return tracesSampler.endsWith('always_off') ? 0 : 1
}

function rootSampler(ratio: number): Sampler {
  if (ratio === 1) return new AlwaysOnSampler()
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio)
}

/** Creates the sampler that the options name, with its standard meaning. */
export function createSampler(options: SamplerOptions): Sampler {
  const root = rootSampler(rootRatio(options))
  const sampler = options.tracesSampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
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

  constructor(options: SamplerOptions) {
    this.#ratio = rootRatio(options)
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
