# The kernels (kernels/NAME.cu) and the architectures they are compiled for (cubin/sm_XX/NAME.cubin).
set(LOCKSTEP_KERNELS
    adamw attention_backward attention_flash attention_flash_mma attention_naive batch_norm bias conv2d_direct
    cross_entropy depthwise_conv2d embedding gelu hgemm hgemm_wmma histogram igemm im2col layernorm
    pooling reduce relu scan sgd sgemm_double_buffered sgemm_naive sgemm_register_blocked
    sgemm_shared sgemm_transposed sgemm_vectorised softmax transpose vector_add)
set(LOCKSTEP_KERNEL_ARCHS 80 90)
