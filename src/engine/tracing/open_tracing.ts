import type { Settings } from '../../host/settings.js';
import type { Tracing } from './tracing.js';

/** Null where no collector is named. What speaks OTLP is loaded only where one is. */
export async function openTracing(settings: Settings): Promise<Tracing | null> {
  const { otel_exporter_otlp_endpoint: endpoint, otel_exporter_otlp_headers: headers } = settings;
  if (endpoint === null) return null;
  const { startExporting } = await import('./exporting.js');
  const { otel_service_name: service_name, otel_traces_sampler_arg: sampled } = settings;
  return startExporting({ endpoint, headers, service_name, sampled });
}
