# The kernels (kernels/NAME.cu) and the architectures they are compiled for (cubin/sm_XX/NAME.cubin).
set(LOCKSTEP_KERNELS
    adamw attention_backward attention_flash attention_flash_mma attention_naive batch_norm bias conv2d_direct
    cross_entropy depthwise_conv2d divergence embedding gelu hgemm hgemm_wmma histogram igemm im2col layernorm
    pooling reduce relu scan sgd sgemm_double_buffered sgemm_naive sgemm_register_blocked
    sgemm_shared sgemm_transposed sgemm_vectorised softmax transpose vector_add)
set(LOCKSTEP_KERNEL_ARCHS 80 90)
# The microbenchmarks (micro/NAME.cu), for each generation's own compiler schedule.
set(LOCKSTEP_MICRO_KERNELS
    micro_arithmetic micro_bandwidth micro_chase micro_front_end micro_matrix micro_special
    micro_synchronisation)
set(LOCKSTEP_MICRO_ARCHS 75 80 86 90)
# What needs instructions of one generation alone (hopper/NAME.cu, cubin/sm_90a).
set(LOCKSTEP_HOPPER_KERNELS attention_wgmma hgemm_ladder hgemm_wgmma histogram_cluster micro_cluster micro_tma micro_wgmma
    reduce_cluster
    stencil_tma transpose_tma)
set(LOCKSTEP_HOPPER_ARCHS 90a)
# What networks are computed with (network/NAME.cu).
set(LOCKSTEP_NETWORK_KERNELS attention_fp16 attention_fp32 depthwise map pool product_fp16 product_fp32 product_int8 product_rows product_sum quantised reduce_any rows take)
set(LOCKSTEP_NETWORK_ARCHS 75 80 90)
set(LOCKSTEP_NETWORK_80_KERNELS attention_bf16 product_bf16 product_tf32)
set(LOCKSTEP_NETWORK_80_ARCHS 80 90)
# The same where a generation has instructions of its own for it.
set(LOCKSTEP_NETWORK_90A_KERNELS product_wgmma_bf16 product_wgmma_fp16 product_wgmma_fp8 product_wgmma_int8)
set(LOCKSTEP_NETWORK_90A_ARCHS 90a)
# fp8: Ada's own products; both round to it.
set(LOCKSTEP_NETWORK_89_KERNELS product_fp8)
set(LOCKSTEP_NETWORK_89_ARCHS 89)
set(LOCKSTEP_NETWORK_FP8_KERNELS round_fp8)
set(LOCKSTEP_NETWORK_FP8_ARCHS 89 90)
