/** Samplers of traces, by the names that OpenTelemetry gives them (`OTEL_TRACES_SAMPLER`). */
export const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
