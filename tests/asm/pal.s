// What drivers of other interfaces than HSA are told of shaders.
	.amdgpu_pal_metadata // the last block counts
amdpal.pipelines:
  - .registers:
      0x2c0a: 1
    .api: Vulkan
.end_amdgpu_pal_metadata
.amdgpu_pal_metadata
---
amdpal.pipelines:
  - .hardware_stages:
      .ps:
        .entry_point:    main
        .scratch_memory_size: 0
        .sgpr_count:     0x1
        .vgpr_count:     0x1
        .wgp_mode:       true
    .internal_pipeline_hash:
      - 0x123456789abcdef0
      - 0xfedcba9876543210
    .registers:
      '0x2c0a (SPI_SHADER_PGM_RSRC1_PS)': 0
      0x2c0b: 0x42000000
      '0xa1b3 (SPI_PS_INPUT_ENA)': 0x1
      41396: 0x1
amdpal.version: [2, 6]
...
	.end_amdgpu_pal_metadata
	.text
	.globl main
main:
	s_endpgm
	.data
	.long 5
